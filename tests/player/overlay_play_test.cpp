// Drawing with a GPU beside the device `cpu`: of three phases of each stage, the last one plays.
#include "runtime/core/make_device.hpp"
#include "runtime/core/runtime_core.hpp"
#include "runtime/player/opencl_player.hpp"
#include "tests/player/players.hpp"
#include "tests/streams/overlay/drawn_graph.hpp"
#if defined(RONDO_METAL_STAND_IN)
#include "runtime/player/metal_player.hpp"
#endif

namespace overlay_play_test {

using namespace rondo;
using namespace overlay_test;

RONDO_STAGES(stages, RONDO_OVERLAY_STAGES, rondo::video::callback_sink)

namespace {

constexpr std::uint64_t ticks = 10;
// pocl compiles a kernel when it is first played, which takes long on a busy machine.
constexpr std::chrono::seconds limit(120);
constexpr drawn_graph graph{.ticks = ticks, .measure = false};

pictures shown_on_cpu() {
  runtime rt{use<stages>, {.device = "cpu"}};
  return graph.run(rt);
}

void plays_like_the_host(std::shared_ptr<kernel_player> player) {
  config c;
  c.device = "cpu";
  auto devices = make_devices(program_of<stages>(), c);
  devices.front().player = std::move(player);
  runtime rt{use<stages>, c, std::move(devices)};
  auto const shown = graph.run(rt);
  REQUIRE(shown.size() == ticks);
  auto const d = between(shown_on_cpu(), shown);
  INFO(d.differ << " of " << d.of << " samples differ, by up to " << d.most);
  CHECK(d.most <= 1);  // the same distances, which one compiler rounds more often than another
  CHECK(d.differ < d.of / 1000);
  CHECK_FALSE(rt.core().player()->is_lost());
  CHECK(rt.core().player()->played() ==
        12 * ticks);  // the pattern, eight that draw, two layers, the compositor
}

}  // namespace

TEST_CASE("what is drawn on OpenCL is what the host draws", "[player][overlay]") {
  plays_like_the_host(std::make_shared<opencl_player>(all_kernels(), test::pocl, load_opencl(), limit));
}

#if defined(RONDO_METAL_STAND_IN)
TEST_CASE("what is drawn on Metal's stand-in is what the host draws", "[player][overlay]") {
  plays_like_the_host(std::make_shared<metal_player>(all_kernels(), limit));
}
#endif

}  // namespace overlay_play_test
