// Graphs whose kernels play beside the device `cpu`: the host's pictures, also after the GPU was lost.
#include "actors/video/overlay/overlay_kernels.hpp"
#include "actors/video/pixels/pixel_kernels.hpp"
#include "actors/video/stages/blur.hpp"
#include "actors/video/stages/compositor.hpp"
#include "actors/video/stages/frame_rate.hpp"
#include "actors/video/stages/sinks.hpp"
#include "actors/video/stages/test_pattern.hpp"
#include "actors/video/stages/waveform.hpp"
#include "runtime/core/make_device.hpp"
#include "runtime/core/runtime_core.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/player/opencl_variants.hpp"
#include "tests/player/players.hpp"
#include "tests/player/shown_pictures.hpp"
#if defined(RONDO_METAL_STAND_IN)
#include "runtime/player/metal_player.hpp"
#endif

using namespace rondo;
using rondo::test::kept_in;
using rondo::test::pictures;

namespace pipeline_test {

/// A pane of coloured glass, whose opacity grows from the left to the right.
struct glass {
  using ports = streams::ports<streams::out<"video", video::image>>;
  static constexpr video::image shape{80, 60, video::pixel_format::i420a};
  static void spec(streams::options_of<glass> const&, streams::spec_of<glass>& s) { s.out<"video">(shape); }
  RONDO_HD void process(streams::stage_context<glass>& ctx, streams::tick const& t) {
    auto const to = ctx.output<"video">(shape);
    if (!to) return;
    auto const p = video::planes_at(to.about, to.data);
    for (int plane = 0; plane < 4; ++plane)
      for (std::int32_t y = 0; y < p.of[plane].height; ++y)
        for (std::int32_t x = 0; x < p.of[plane].width; ++x) {
          auto const opacity = (plane == 1 || plane == 2 ? 6 : 3) * x;  // the samples are premultiplied
          p.of[plane].at(x, y) = static_cast<std::uint8_t>(
              plane == 3 ? opacity : opacity * (40 + 30 * plane + static_cast<int>(t.number % 8)) / 255);
        }
  }
};

RONDO_STAGES(stages, glass, rondo::video::test_pattern, rondo::video::blur, rondo::video::compositor,
             rondo::video::waveform, rondo::video::frame_rate, rondo::video::callback_sink)

}  // namespace pipeline_test
RONDO_KERNELS(rondo::video::pixel_kernels, rondo::video::overlay_kernels)

using rondo::test::pocl;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

/// Where the layers are: inside, and beyond each edge.
constexpr video::compositor::options layers{{{20, 30}, {-40, -14}, {282, 222}, {300, 10}}};
constexpr std::uint64_t stages_that_play = 6;

/// What a graph of these stages shows; all kernels play, if there is a player.
pictures shown_by(runtime& rt, std::uint64_t ticks) {
  pictures all;
  streams::graph g{rt, {.ticks = ticks, .measure = false}};
  auto const pattern = g.add<video::test_pattern>("pattern", {.width = 322, .height = 242});
  auto const small = g.add<video::test_pattern>("small", {.width = 64, .height = 48});
  auto const pane = g.add<pipeline_test::glass>("pane");
  auto const soft = g.add<video::blur>("soft", {.sigma = 2.5F});
  auto const over = g.add<video::compositor>("over", layers);
  auto const wave = g.add<video::waveform>("wave");
  auto const rate = g.add<video::frame_rate>("rate", {.fixed = true});
  auto const to = g.add<video::callback_sink>("to", kept_in(all));
  streams::connection_options const every_one{.how = streams::delivery::lossless};
  g.connect(pattern.out<"video">(), soft.in<"video">());
  g.connect(soft.out<"video">(), over.in<"video">());
  g.connect(small.out<"video">(), over.in<"layer1">(), every_one);
  g.connect(pane.out<"video">(), over.in<"layer2">(), every_one);
  g.connect(small.out<"video">(), over.in<"layer3">(), every_one);
  g.connect(pane.out<"video">(), over.in<"layer4">(), every_one);
  g.connect(over.out<"video">(), wave.in<"video">());
  g.connect(wave.out<"video">(), rate.in<"video">());
  g.connect(rate.out<"video">(), to.in<"video">());
  g.start();
  CHECK(!g.wait(60s));
  CHECK(g.counts(over).failed == 0);
  CHECK(g.counts(over).copied == 0);
  return all;
}

pictures shown_on_cpu(std::uint64_t ticks) {
  runtime rt{use<pipeline_test::stages>, {.device = "cpu"}};
  return shown_by(rt, ticks);
}

/// How many of these pictures are not the same.
int different(pictures const& a, pictures const& b) {
  int n = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    n += i >= a.size() || i >= b.size() || a[i] != b[i] ? 1 : 0;
  return n;
}
constexpr int drawing_in_place = 3;  // stages: the compositor, the waveform and the frame rate

std::vector<chosen_device> with_player(std::shared_ptr<kernel_player> player) {
  config c;
  c.device = "cpu";
  auto devices = make_devices(program_of<pipeline_test::stages>(), c);
  devices.front().player = std::move(player);
  return devices;
}

/// The devices of these names, where OpenCL's first device is pocl as a GPU, and Metal is the stand-in if `has_metal`.
std::vector<chosen_device> devices_with_gpus(std::string const& names, bool has_metal, bool shares = false) {
  config c;
  c.device = names;
  c.share_buffers = shares;
  player_makers makers;
  makers.why_no_opencl = [] { return std::string(); };
  makers.opencl = [](config const&) -> std::shared_ptr<kernel_player> {
    return std::make_shared<opencl_player>(all_kernels(), "", test::opencl_with_gpu());
  };
#if defined(RONDO_METAL_STAND_IN)
  if (has_metal)
    makers.metal = [](config const&) -> std::shared_ptr<kernel_player> {
      return std::make_shared<metal_player>(all_kernels());
    };
#else
  static_cast<void>(has_metal);
#endif
  return make_devices(program_of<pipeline_test::stages>(), c, makers);
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
  CHECK(rt.core().player()->played() == stages_that_play * ticks);
  CHECK(rt.transfers().bytes == 0);
}

TEST_CASE("a pipeline whose GPU is lost goes on on the host, but for those in hand with the same pictures",
          "[player]") {
  static std::atomic<int> left;
  left = 150;  // kernels
  auto api = load_opencl();
  api.clEnqueueNDRangeKernel = [](cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  size_t const* from, size_t const* size, size_t const* group, cl_uint events,
                                  cl_event const* list, cl_event* event) -> cl_int {
    if (left-- <= 0) return CL_OUT_OF_RESOURCES;
    return load_opencl().clEnqueueNDRangeKernel(queue, kernel, dimensions, from, size, group, events, list,
                                                event);
  };
  constexpr std::uint64_t ticks = 40;
  runtime rt{use<pipeline_test::stages>, config{},
             with_player(std::make_shared<opencl_player>(all_kernels(), pocl, api))};
  std::atomic<int> told{0};
  auto const log = rt.on_log([&told](log_line const& l) {
    if (l.text.find("its kernels work on the host from now on") != std::string::npos) ++told;
  });
  auto const shown = shown_by(rt, ticks);
  REQUIRE(shown.size() == ticks);
  CHECK(different(shown, shown_on_cpu(ticks)) <= drawing_in_place);
  CHECK(rt.core().player()->is_lost());
  auto const played = rt.core().player()->played();
  CHECK((played > 2 && played < stages_that_play * ticks));
  CHECK(told > 0);
}

TEST_CASE("a stage whose kernels the process does not have works on the host, and says so once", "[player]") {
  runtime rt{use<pipeline_test::stages>, config{},
             with_player(std::make_shared<opencl_player>(std::vector<kernel_program const*>{}, pocl))};
  std::atomic<int> told{0};
  auto const log = rt.on_log([&told](log_line const& l) {
    if (l.text.find("there is no kernel") != std::string::npos) ++told;
  });
  CHECK((shown_by(rt, 20) == shown_on_cpu(20)));
  CHECK(told == stages_that_play);
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

TEST_CASE("a pipeline on mapped memory shows the host's pictures", "[player]") {
  constexpr std::uint64_t ticks = 20;
  runtime rt{use<pipeline_test::stages>, config{},
             with_player(
                 std::make_shared<opencl_player>(all_kernels(), pocl, test::opencl_without_shared_memory()))};
  CHECK((shown_by(rt, ticks) == shown_on_cpu(ticks)));
  CHECK(rt.core().player()->played() == stages_that_play * ticks);
}

TEST_CASE("a pipeline whose GPU hangs goes on on the host after the limit", "[player]") {
  static std::atomic<int> left;
  static std::vector<std::pair<void(CL_CALLBACK*)(cl_event, cl_int, void*), void*>> hanging;
  left = 10;  // lists
  auto api = load_opencl();
  api.clSetEventCallback = [](cl_event event, cl_int status, void(CL_CALLBACK * f)(cl_event, cl_int, void*),
                              void* data) -> cl_int {
    if (left-- > 0) return load_opencl().clSetEventCallback(event, status, f, data);
    hanging.emplace_back(f, data);
    return CL_SUCCESS;
  };
  constexpr std::uint64_t ticks = 20;
  {
    runtime rt{use<pipeline_test::stages>, config{},
               with_player(std::make_shared<opencl_player>(all_kernels(), pocl, api, 100ms))};
    CHECK(different(shown_by(rt, ticks), shown_on_cpu(ticks)) <= drawing_in_place);
    CHECK(rt.core().player()->is_lost());
  }
  for (auto const& [f, data] : hanging) f(nullptr, CL_COMPLETE, data);  // the player is gone
}

#if defined(RONDO_METAL_STAND_IN)
TEST_CASE("a pipeline on Metal's stand-in shows the host's pictures, and copies nothing", "[player]") {
  constexpr std::uint64_t ticks = 20;
  runtime rt{use<pipeline_test::stages>, config{}, devices_with_gpus("metal", true)};
  CHECK(rt.info().name == "cpu");
  CHECK_THAT(rt.info().description, Contains("kernels on Metal, stand-in on pocl"));
  CHECK((shown_by(rt, ticks) == shown_on_cpu(ticks)));
  CHECK(rt.core().player()->played() == stages_that_play * ticks);
  CHECK(rt.transfers().bytes == 0);
}
#endif

TEST_CASE("auto takes a GPU of Metal before one of OpenCL, and none that is a processor", "[player]") {
  auto const chosen = [](bool has_metal, bool shares = false) {
    return std::move(devices_with_gpus("auto", has_metal, shares).front());
  };
  if (auto const first = chosen(false); first.dev->info().name != "cpu") return;  // there is a GPU of CUDA
  auto const opencl = chosen(false);
  REQUIRE(opencl.player);
  CHECK_THAT(opencl.player->description(), Contains(pocl));
  CHECK_THAT(opencl.reason, Contains("chosen by auto") && Contains("Metal needs macOS with an Apple GPU") &&
                                Contains("kernels play on OpenCL, "));
#if defined(RONDO_METAL_STAND_IN)
  auto const metal = chosen(true);
  REQUIRE(metal.player);
  CHECK(metal.player->description() == "Metal, stand-in on pocl");
#endif
  CHECK_FALSE(chosen(false, true).player);  // its memory cannot be shared with other processes
  // The real OpenCL of this machine: a processor is no GPU.
  config c;
  c.device = "auto";
  player_makers makers;
  makers.why_no_opencl = [] { return std::string(); };
  auto const here = std::move(make_devices(program_of<pipeline_test::stages>(), c, makers).front());
  if (here.player) CHECK(here.player->description().find(pocl) == std::string::npos);
  if (!here.player) CHECK_THAT(here.reason, Contains("OpenCL has no GPU; there are") && Contains(pocl));
}
