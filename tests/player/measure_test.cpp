// How long players take, for people: tools/metal runs it on a Mac. It is no test, and runs only where it is named.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "kernels/pixels/kernels.hpp"
#include "tests/catch.hpp"
#include "tests/player/kernels.hpp"
#include "tests/player/players.hpp"

using namespace rondo;
using namespace rondo::pixels;
using namespace rondo::test;

namespace {

/// The least and the middle of 101 samples, in microseconds.
std::pair<double, double> microseconds(auto const& run) {
  std::vector<double> all;
  for (int i = 0; i < 101; ++i) {
    auto const begin = std::chrono::steady_clock::now();
    run();
    all.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::sort(all);
  return {all.front(), all[50]};
}

}  // namespace

TEST_CASE("a round of one small kernel, and a blur of a plane of 1080p", "[.measure]") {
  constexpr i32 width = 1920, height = 1080;
  plane_place const at{0, width};
  blur_work const work{at, at, width, height, gaussian_weights(160)};
  for (auto const& name : player_names()) {
    auto const player = make_player(name);
    shared_block const a(*player, width * height), b(*player, width * height);
    auto* const small = a.data();
    auto const one = call(mix_kernel, {4, 1, 3, 0}, {{small, small + 64, small + 128, small + 192}}, 1, 4);
    std::vector const blur{call(blur_rows_down_kernel, work, {{b.data(), a.data()}}, height, width),
                           call(blur_rows_across_kernel, work, {{a.data(), b.data()}}, height, width)};
    auto const round = microseconds([&] { CHECK(!play(*player, {one}).why); });
    auto const whole = microseconds([&] { CHECK(!play(*player, blur).why); });
    std::printf(
        "{\"player\": \"%s\", \"machine\": \"%s\", \"samples\": 101, \"round_us_min\": %.1f, "
        "\"round_us_p50\": %.1f, \"blur_1080p_us_min\": %.1f, \"blur_1080p_us_p50\": %.1f}\n",
        name.c_str(), player->description().c_str(), round.first, round.second, whole.first, whole.second);
  }
}
