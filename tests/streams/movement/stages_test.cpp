// Movement as stages: the same drawings as the functions make in a plain loop, on every device, and without copies.
#include <algorithm>
#include <mutex>
#include <vector>

#include "actors/video/stages/movement.hpp"
#include "actors/video/stages/sinks.hpp"
#include "actors/video/stages/test_pattern.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/streams/letters/made_letters.hpp"

using namespace rondo;
using namespace std::chrono_literals;

namespace movement_test {

/// A grey street, and a box that walks through it.
struct walker {
  using ports = streams::ports<streams::out<"video", video::image>>;
  static constexpr std::int32_t width = 320, height = 240;
  static void spec(streams::options_of<walker> const&, streams::spec_of<walker>& s) {
    s.out<"video">({width, height});
  }
  RONDO_HD static void paint(video::planes const& p, std::int32_t number) {
    for (int plane = 0; plane < 3; ++plane)
      for (std::int32_t y = 0; y < p.of[plane].height; ++y)
        for (std::int32_t x = 0; x < p.of[plane].width; ++x) {
          std::int32_t const scale = plane == 0 ? 1 : 2, left = 20 + 4 * number;
          bool const inside =
              x * scale >= left && x * scale < left + 32 && y * scale >= 80 && y * scale < 160;
          p.of[plane].at(x, y) =
              static_cast<std::uint8_t>(inside ? 200 - 30 * plane : 90 + 10 * plane + x % 3);
        }
  }
  RONDO_HD void process(streams::stage_context<walker>& ctx, streams::tick const& t) {
    auto const to = ctx.output<"video">({width, height});
    if (to) paint(video::planes_at(to.about, to.data), static_cast<std::int32_t>(t.number));
  }
};

RONDO_STAGES(stages, walker, video::find_movement, video::draw_movement, video::callback_sink)

}  // namespace movement_test

RONDO_EMULATED_MODULE(movement_test::stages)

namespace {

using pictures = std::vector<std::vector<std::byte>>;

/// The pictures as the graph draws them.
pictures run(config const& settings, std::uint64_t ticks) {
  static pictures all;
  all.clear();
  runtime rt{use<movement_test::stages>, settings};
  streams::graph g{rt, {.ticks = ticks, .warn = [](std::string const&) {}}};
  std::optional<std::uint32_t> const last = rt.device_count() - 1;
  auto const from = g.add<movement_test::walker>("from", {}, {.device = last});
  auto const find = g.add<video::find_movement>("find", {.name = "street", .rate = 25}, {.device = last});
  auto const draw = g.add<video::draw_movement>("draw", {}, {.device = last});
  auto const to = g.add<video::callback_sink>(
      "to", {[](void*, video::image const& i, std::byte const* data, streams::tick const&) {
               all.emplace_back(data, data + i.bytes());
             },
             nullptr});
  g.connect(from.out<"video">(), find.in<"video">());
  g.connect(find.out<"video">(), draw.in<"video">());
  g.connect(find.out<"drawing">(), draw.in<"drawing">());
  g.connect(draw.out<"video">(), to.in<"video">());
  g.start();
  REQUIRE(!g.wait(60s));
  CHECK(g.counts(find).copied == 0);
  CHECK(g.counts(draw).copied == 0);
  return std::move(all);
}

/// The same with the functions alone.
pictures run_loop(std::uint64_t ticks) {
  constexpr auto width = movement_test::walker::width, height = movement_test::walker::height;
  video::movement_params const params{};
  std::vector<std::max_align_t> scratch(
      (video::movement_bytes(width, height, 1, params) + 64) / sizeof(std::max_align_t) + 8);
  auto* const at =
      reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
  video::carver memory(at);
  auto const scene = video::carve_movement(memory, width, height, 1, params);
  video::reset_movement(scene);
  video::status_line status{"street", 250};
  video::image const about{width, height};
  test::made_letters const letters(video::drawing_letters(height));
  pictures all;
  for (std::uint64_t n = 0; n < ticks; ++n) {
    auto& picture = all.emplace_back(about.bytes());
    movement_test::walker::paint(video::planes_at(about, picture.data()), static_cast<std::int32_t>(n));
    auto const frame = video::frame_of(about, picture.data());
    video::detect_tile(video::one_lane{}, scene, params, frame, 0);
    video::label_tile(video::one_lane{}, scene, params, 0);
    video::finish_frame(scene, params, frame, status);
    video::draw_tile(video::one_lane{}, scene, frame, letters.book(), 0);
  }
  CHECK(scene.scene->tracks.next_id > 1);  // the walker was found
  return all;
}

}  // namespace

TEST_CASE("movement is found and drawn by two stages as by the functions alone, on every device",
          "[streams][video]") {
  constexpr std::uint64_t ticks = 24;
  auto const expected = run_loop(ticks);
  auto const same = [](video::image const& about, std::vector<std::byte> const& a,
                       std::vector<std::byte> const& b) {
    auto const x = video::planes_at(about, a.data()), y = video::planes_at(about, b.data());
    for (int p = 0; p < 3; ++p)
      for (std::int32_t row = 0; row < x.of[p].height; ++row)
        if (!std::equal(x.of[p].row(row), x.of[p].row(row) + x.of[p].width, y.of[p].row(row))) return false;
    return true;
  };
  video::image const about{movement_test::walker::width, movement_test::walker::height};
  for (auto const& settings : {config{.device = "cpu"}, config{.device = "cpu,emulated", .lanes = 4}}) {
    INFO(settings.device);
    auto const found = run(settings, ticks);
    REQUIRE(found.size() == ticks);
    for (std::uint64_t n = 0; n < ticks; ++n) {
      INFO("picture " << n);
      REQUIRE(same(about, found[n], expected[n]));
    }
  }
}
