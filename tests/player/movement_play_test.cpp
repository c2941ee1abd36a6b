// Movement with a GPU beside the device `cpu`: a wide stage, of which one phase has kernels, and one that draws in
// place.
#include "actors/video/pixels/pixel_kernels.hpp"
#include "actors/video/stages/movement.hpp"
#include "actors/video/stages/sinks.hpp"
#include "runtime/core/make_device.hpp"
#include "runtime/core/runtime_core.hpp"
#include "runtime/player/opencl_player.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/player/shown_pictures.hpp"

using namespace rondo;
using rondo::test::kept_in;
using rondo::test::pictures;
using namespace std::chrono_literals;

namespace movement_play_test {

/// A grey street with two boxes that walk, and, after a while, another light, from which the street is learnt again.
struct street {
  using ports = streams::ports<streams::out<"video", video::image>>;
  static constexpr video::image shape{334, 250};
  static void spec(streams::options_of<street> const&, streams::spec_of<street>& s) { s.out<"video">(shape); }
  RONDO_HD void process(streams::stage_context<street>& ctx, streams::tick const& t) {
    auto const to = ctx.output<"video">(shape);
    if (!to) return;
    auto const p = video::planes_at(to.about, to.data);
    auto const number = static_cast<std::int32_t>(t.number);
    std::int32_t const light = number < 30 ? 90 : 150;
    for (int plane = 0; plane < 3; ++plane)
      for (std::int32_t y = 0; y < p.of[plane].height; ++y)
        for (std::int32_t x = 0; x < p.of[plane].width; ++x) {
          std::int32_t const scale = plane == 0 ? 1 : 2, left = 20 + 4 * number, right = 300 - 5 * number;
          auto const inside = [&](std::int32_t from, std::int32_t top) {
            return x * scale >= from && x * scale < from + 32 && y * scale >= top && y * scale < top + 80;
          };
          bool const is_walker = inside(left, 80) || inside(right, 30);
          p.of[plane].at(x, y) =
              static_cast<std::uint8_t>(is_walker ? 200 - 30 * plane : light + 10 * plane + x % 3);
        }
  }
};

RONDO_STAGES(stages, street, video::find_movement, video::draw_movement, video::callback_sink)

}  // namespace movement_play_test

namespace {

constexpr char const* pocl = "Portable Computing Language";
constexpr std::uint64_t ticks = 48;

pictures shown_by(runtime& rt) {
  pictures all;
  streams::graph g{rt, {.ticks = ticks, .measure = false}};
  auto const from = g.add<movement_play_test::street>("from");
  auto const find = g.add<video::find_movement>("find", {.name = "street", .rate = 25});
  auto const draw = g.add<video::draw_movement>("draw");
  auto const to = g.add<video::callback_sink>("to", kept_in(all));
  g.connect(from.out<"video">(), find.in<"video">());
  g.connect(find.out<"video">(), draw.in<"video">());
  g.connect(find.out<"drawing">(), draw.in<"drawing">());
  g.connect(draw.out<"video">(), to.in<"video">());
  g.start();
  REQUIRE(!g.wait(60s));
  CHECK(g.counts(find).failed == 0);
  CHECK(g.counts(draw).copied == 0);
  return all;
}

pictures shown_on_cpu() {
  runtime rt{use<movement_play_test::stages>, {.device = "cpu"}};
  return shown_by(rt);
}

}  // namespace

TEST_CASE("a wide stage whose first phase plays finds the same movement, and draws the same pictures",
          "[player]") {
  runtime rt{use<movement_play_test::stages>, {.device = std::string("opencl:") + pocl}};
  auto const shown = shown_by(rt);
  REQUIRE(shown.size() == ticks);
  CHECK((shown == shown_on_cpu()));
  CHECK(rt.core().player()->played() == 2 * ticks);  // a phase, and the drawing
}

TEST_CASE("a wide stage whose GPU is lost goes on with tiles, at the same phase", "[player]") {
  static std::atomic<int> left;
  left = 40;  // kernels
  auto api = load_opencl();
  api.clEnqueueNDRangeKernel = [](cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  size_t const* from, size_t const* size, size_t const* group, cl_uint events,
                                  cl_event const* list, cl_event* event) -> cl_int {
    if (left-- <= 0) return CL_OUT_OF_RESOURCES;
    return load_opencl().clEnqueueNDRangeKernel(queue, kernel, dimensions, from, size, group, events, list,
                                                event);
  };
  config c;
  c.device = "cpu";
  auto devices = make_devices(program_of<movement_play_test::stages>(), c);
  devices.front().player = std::make_shared<opencl_player>(all_kernels(), pocl, api);
  runtime rt{use<movement_play_test::stages>, config{}, std::move(devices)};
  auto const shown = shown_by(rt);
  REQUIRE(shown.size() == ticks);
  CHECK((shown == shown_on_cpu()));  // each list is one kernel, which was refused as a whole
  CHECK(rt.core().player()->is_lost());
}
