// The video stages: the same pictures on every device, where they are copied, and what they refuse.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "actors/video/video_module.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"

using namespace rondo;
using namespace rondo::video;
using namespace std::chrono_literals;

namespace video_test {

RONDO_STAGES(stages, test_pattern, blur, compositor, waveform, frame_rate, null_sink, callback_sink)

}  // namespace video_test

RONDO_EMULATED_MODULE(video_test::stages)

namespace {

/// A hash of each picture's samples, by tick; keeps the newest picture.
struct gallery {
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t> hashes;
  image about;
  std::vector<std::byte> newest;

  callback_sink::options options() {
    return {[](void* with, image const& i, std::byte const* data, streams::tick const& t) {
              static_cast<gallery*>(with)->take(i, data, t);
            },
            this};
  }
  void take(image const& i, std::byte const* data, streams::tick const& t) {
    std::uint64_t hash = 14695981039346656037ull;
    auto const picture = planes_at(i, data);
    for (int p = 0; p < 3; ++p)
      for (std::int32_t y = 0; y < picture.of[p].height; ++y)
        for (std::int32_t x = 0; x < picture.of[p].width; ++x)
          hash = (hash ^ picture.of[p].at(x, y)) * 1099511628211ull;
    std::lock_guard const lock(mutex);
    hashes[t.number] = hash;
    about = i;
    newest.assign(data, data + i.bytes());
  }
  /// As a file for people, if the environment asks for one.
  void show(char const* name) const {
    char const* const folder = std::getenv("RONDO_TEST_PICTURES");
    if (folder == nullptr) return;
    auto const path = std::string(folder) + "/" + name + ".pgm";
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return;
    auto const picture = planes_at(about, newest.data());
    std::fprintf(file, "P5\n%d %d\n255\n", about.width, about.height / 2 * 3);
    for (std::int32_t y = 0; y < about.height; ++y)
      std::fwrite(picture.of[0].row(y), 1, static_cast<std::size_t>(about.width), file);
    for (std::int32_t y = 0; y < about.height / 2; ++y)
      for (int p = 1; p < 3; ++p)
        std::fwrite(picture.of[p].row(y), 1, static_cast<std::size_t>(about.width / 2), file);
    std::fclose(file);
  }
};

struct places {
  std::optional<std::uint32_t> pattern{}, soft{}, wave{}, rate{};
};

/// Pattern, blur, a small picture within the picture, waveform, number of the tick. Returns the copies that transfers
/// have made.
std::uint64_t run_five(runtime& rt, places const& at, gallery& g, std::uint64_t ticks) {
  streams::graph graph{rt, {.ticks = ticks, .warn = [](std::string const&) {}}};
  auto const pattern =
      graph.add<test_pattern>("pattern", {.width = 320, .height = 240}, {.device = at.pattern});
  auto const soft = graph.add<blur>("soft", {.sigma = 1.5F}, {.device = at.soft});
  auto const wave = graph.add<waveform>("wave", {}, {.device = at.wave});
  auto const rate = graph.add<frame_rate>("rate", {.fixed = true}, {.device = at.rate});
  auto const to = graph.add<callback_sink>("to", g.options());
  graph.connect(pattern.out<"video">(), soft.in<"video">());
  graph.connect(soft.out<"video">(), wave.in<"video">());
  graph.connect(wave.out<"video">(), rate.in<"video">());
  graph.connect(rate.out<"video">(), to.in<"video">());
  graph.start();
  REQUIRE(!graph.wait(60s));
  CHECK(graph.counts(wave).copied == 0);
  CHECK(graph.counts(rate).copied == 0);
  std::uint64_t copies = 0;
  for (auto const& e : graph.edges()) copies += e.copies;
  return copies;
}

}  // namespace

TEST_CASE("a video pipeline makes the same pictures on every device, with the copies that its places need",
          "[streams][video]") {
  constexpr std::uint64_t ticks = 6;
  runtime rt{use<video_test::stages>, {.device = "cpu,emulated", .lanes = 4}};
  constexpr std::uint32_t cpu = 0, device = 1;
  gallery host, all_there, mixed, bouncing;
  CHECK(run_five(rt, {cpu, cpu, cpu, cpu}, host, ticks) == 0);
  host.show("host");
  REQUIRE(host.hashes.size() == ticks);
  CHECK(host.hashes[0] != host.hashes[5]);
  // The picture is shown on the host, so it comes back once.
  CHECK(run_five(rt, {device, device, device, device}, all_there, ticks) == ticks);
  all_there.show("device");
  CHECK(all_there.hashes == host.hashes);
  CHECK(run_five(rt, {cpu, device, device, device}, mixed, ticks) == 2 * ticks);
  CHECK(mixed.hashes == host.hashes);
  CHECK(run_five(rt, {device, cpu, device, cpu}, bouncing, ticks) == 3 * ticks);
  CHECK(bouncing.hashes == host.hashes);
}

TEST_CASE("a graph whose stages all work on one device copies nothing", "[streams][video]") {
  runtime rt{use<video_test::stages>, {.device = "cpu,emulated", .lanes = 2}};
  streams::graph graph{rt, {.ticks = 10, .measure = false}};
  auto const pattern = graph.add<test_pattern>("pattern", {.width = 64, .height = 64});
  auto const soft = graph.add<blur>("soft");
  auto const to = graph.add<null_sink>("to");
  graph.connect(pattern.out<"video">(), soft.in<"video">());
  graph.connect(soft.out<"video">(), to.in<"video">());
  CHECK(graph.negotiated_place(pattern) == 1);  // frames stay in the device's memory
  CHECK(graph.negotiated_place(to) == 1);
  graph.start();
  REQUIRE(!graph.wait(60s));
  for (auto const& e : graph.edges()) CHECK_FALSE(e.is_transfer);
}

TEST_CASE("a compositor puts layers over a picture, cut off at its edges", "[streams][video]") {
  runtime rt{use<video_test::stages>, {.device = "cpu"}};
  gallery g;
  streams::graph graph{rt, {.ticks = 3}};
  auto const pattern = graph.add<test_pattern>("pattern", {.width = 320, .height = 240});
  auto const small = graph.add<test_pattern>("small", {.width = 96, .height = 64});
  auto const all = graph.add<compositor>("all", {.at = {{-16, 20}, {200, 220}}});
  auto const to = graph.add<callback_sink>("to", g.options());
  graph.connect(pattern.out<"video">(), all.in<"video">());
  graph.connect(small.out<"video">(), all.in<"layer1">(), {.how = streams::delivery::lossless});
  graph.connect(small.out<"video">(), all.in<"layer2">(), {.how = streams::delivery::lossless});
  graph.connect(all.out<"video">(), to.in<"video">());
  graph.start();
  REQUIRE(!graph.wait(60s));
  g.show("composed");
  auto const picture = planes_at(g.about, g.newest.data());
  std::vector<std::byte> alone(image{96, 64}.bytes());
  auto const layer = planes_at({96, 64}, alone.data());
  for (int p = 0; p < 3; ++p)
    for (std::int32_t y = 0; y < layer.of[p].height; ++y)
      whole_rows::pattern(layer.of[p].row(y), static_cast<pixels::plane_kind>(p),
                          pixels::pattern_for(96, 64, p == 0 ? 1 : 2, 2), y);
  CHECK(picture.of[0].at(0, 20) == layer.of[0].at(16, 0));
  CHECK(picture.of[0].at(79, 83) == layer.of[0].at(95, 63));
  CHECK(picture.of[1].at(39, 41) == layer.of[1].at(47, 31));
  CHECK(picture.of[0].at(295, 239) == layer.of[0].at(95, 19));
}

TEST_CASE("a blur keeps what is even, and its weights add up", "[streams][video]") {
  for (float const sigma : {0.3F, 0.5F, 1.0F, 1.5F, 2.0F, 2.7F, 4.0F}) {
    auto const w = blur::weights_for(sigma);
    int sum = w.weights[0];
    for (int k = 1; k <= w.radius; ++k) sum += 2 * w.weights[k];
    CHECK(sum == 256);
    double exact[pixels::most_blur_radius + 1], all = 1;
    for (int k = 1; k <= pixels::most_blur_radius; ++k)
      exact[k] = std::exp(-k * k / (2.0 * sigma * sigma)), all += 2 * exact[k];
    for (int k = 1; k <= w.radius; ++k) CHECK(std::abs(w.weights[k] - 256 * exact[k] / all) < 3);
    std::vector<u8> even(100, 77), blurred(100);
    whole_rows::blur_across(blurred.data(), even.data(), 100, w);
    CHECK(blurred == even);
    std::vector<u8> const edge = [] {
      std::vector<u8> e(100, 0);
      std::fill(e.begin() + 50, e.end(), 255);
      return e;
    }();
    whole_rows::blur_across(blurred.data(), edge.data(), 100, w);
    CHECK(std::is_sorted(blurred.begin(), blurred.end()));
    CHECK(blurred[49] + blurred[50] == 255);
  }
}

TEST_CASE("video stages refuse shapes and options by name", "[streams][video]") {
  using Catch::Matchers::Contains;
  runtime rt{use<video_test::stages>, {.device = "cpu"}};
  streams::graph odd{rt};
  odd.add<test_pattern>("pattern", {.width = 641, .height = 480});
  CHECK_THROWS_WITH(odd.start(), Contains("'pattern'") && Contains("641x480") && Contains("even"));
  streams::graph sharp{rt};
  auto const pattern = sharp.add<test_pattern>("pattern");
  auto const soft = sharp.add<blur>("soft", {.sigma = 9});
  sharp.connect(pattern.out<"video">(), soft.in<"video">());
  CHECK_THROWS_WITH(sharp.start(), Contains("'soft'") && Contains("'sigma' is 9; it must be"));
}
