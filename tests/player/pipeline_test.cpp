// Graphs whose kernels play beside the device `cpu`: the host's pictures, also after the GPU was lost.
#include "actors/video/pixels/pixel_kernels.hpp"
#include "actors/video/stages/blur.hpp"
#include "actors/video/stages/frame_rate.hpp"
#include "actors/video/stages/sinks.hpp"
#include "actors/video/stages/test_pattern.hpp"
#include "actors/video/stages/waveform.hpp"
#include "runtime/core/make_device.hpp"
#include "runtime/core/runtime_core.hpp"
#include "runtime/player/opencl_player.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"

namespace pipeline_test {
RONDO_STAGES(stages, rondo::video::test_pattern, rondo::video::blur, rondo::video::waveform,
             rondo::video::frame_rate, rondo::video::callback_sink)
}
RONDO_KERNELS(rondo::video::pixel_kernels)

using namespace rondo;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

constexpr char const* pocl = "Portable Computing Language";

using pictures = std::vector<std::vector<std::byte>>;

/// What a graph of five stages shows.
pictures shown_by(runtime& rt, std::uint64_t ticks) {
  pictures all;
  streams::graph g{rt, {.ticks = ticks}};
  auto const pattern = g.add<video::test_pattern>("pattern", {.width = 322, .height = 242});
  auto const soft = g.add<video::blur>("soft", {.sigma = 2.5F});
  auto const wave = g.add<video::waveform>("wave");
  auto const rate = g.add<video::frame_rate>("rate", {.fixed = true});
  auto const to = g.add<video::callback_sink>(
      "to", {[](void* with, video::image const& i, std::byte const* data, streams::tick const&) {
               auto const p = video::planes_at(i, data);
               auto& picture = static_cast<pictures*>(with)->emplace_back();
               for (int plane = 0; plane < 3; ++plane)
                 for (std::int32_t y = 0; y < p.of[plane].height; ++y) {
                   auto const* const row = reinterpret_cast<std::byte const*>(p.of[plane].row(y));
                   picture.insert(picture.end(), row, row + p.of[plane].width);
                 }
             },
             &all});
  g.connect(pattern.out<"video">(), soft.in<"video">());
  g.connect(soft.out<"video">(), wave.in<"video">());
  g.connect(wave.out<"video">(), rate.in<"video">());
  g.connect(rate.out<"video">(), to.in<"video">());
  g.start();
  CHECK(!g.wait(60s));
  CHECK(g.counts(soft).failed == 0);
  CHECK(g.counts(soft).copied == 0);
  return all;
}

pictures shown_on_cpu(std::uint64_t ticks) {
  runtime rt{use<pipeline_test::stages>, {.device = "cpu"}};
  return shown_by(rt, ticks);
}

/// The device `cpu` with a GPU whose functions are these.
std::vector<chosen_device> with_player(opencl_api const& api) {
  config c;
  c.device = "cpu";
  auto devices = make_devices(program_of<pipeline_test::stages>(), c);
  devices.front().player = std::make_shared<opencl_player>(all_kernels(), pocl, api);
  return devices;
}

}  // namespace

TEST_CASE("a pipeline on OpenCL shows the host's pictures, and copies nothing", "[player]") {
  constexpr std::uint64_t ticks = 40;
  runtime rt{use<pipeline_test::stages>, {.device = std::string("opencl:") + pocl}};
  CHECK(rt.info().name == "cpu");
  CHECK_THAT(rt.info().description, Contains("kernels on OpenCL, Portable Computing Language"));
  auto const shown = shown_by(rt, ticks);
  REQUIRE(shown.size() == ticks);
  CHECK((shown == shown_on_cpu(ticks)));
  CHECK(rt.core().player()->played() == 2 * ticks);  // the pattern's, and the blur's
  CHECK(rt.transfers().bytes == 0);
}

TEST_CASE("a pipeline whose GPU is lost goes on on the host with the same pictures", "[player]") {
  static std::atomic<int> left;
  left = 50;  // kernels
  auto api = load_opencl();
  api.clEnqueueNDRangeKernel = [](cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  size_t const* from, size_t const* size, size_t const* group, cl_uint events,
                                  cl_event const* list, cl_event* event) -> cl_int {
    if (left-- <= 0) return CL_OUT_OF_RESOURCES;
    return load_opencl().clEnqueueNDRangeKernel(queue, kernel, dimensions, from, size, group, events, list,
                                                event);
  };
  constexpr std::uint64_t ticks = 40;
  runtime rt{use<pipeline_test::stages>, config{}, with_player(api)};
  std::atomic<int> told{0};
  auto const log = rt.on_log([&told](log_line const& l) {
    if (l.text.find("its kernels work on the host from now on") != std::string::npos) ++told;
  });
  auto const shown = shown_by(rt, ticks);
  REQUIRE(shown.size() == ticks);
  CHECK((shown == shown_on_cpu(ticks)));
  CHECK(rt.core().player()->is_lost());
  auto const played = rt.core().player()->played();
  CHECK((played > 2 && played < 2 * ticks));
  CHECK(told > 0);
}

TEST_CASE("a stage whose kernels the process does not have works on the host, and says so once", "[player]") {
  config c;
  c.device = "cpu";
  auto devices = make_devices(program_of<pipeline_test::stages>(), c);
  devices.front().player = std::make_shared<opencl_player>(std::vector<kernel_program const*>{}, pocl);
  runtime rt{use<pipeline_test::stages>, config{}, std::move(devices)};
  std::atomic<int> told{0};
  auto const log = rt.on_log([&told](log_line const& l) {
    if (l.text.find("there is no kernel") != std::string::npos) ++told;
  });
  CHECK((shown_by(rt, 20) == shown_on_cpu(20)));
  CHECK(told == 2);  // the pattern, and the blur
  CHECK(rt.core().player()->played() == 0);
  CHECK_FALSE(rt.core().player()->is_lost());
}

TEST_CASE("a device of OpenCL that is not there is refused with those that are", "[player]") {
  CHECK_THROWS_WITH(
      (runtime{use<pipeline_test::stages>, {.device = "opencl:Mars"}}),
      Contains("device 'opencl:Mars' is not available: OpenCL has no device 'Mars'; there are") &&
          Contains(pocl));
  CHECK_THROWS_WITH(
      (runtime{use<pipeline_test::stages>, {.device = std::string("opencl:") + pocl, .share_buffers = true}}),
      Contains("share_buffers") && Contains("opencl"));
}
