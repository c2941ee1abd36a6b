// Where kernels play: where they were measured to be faster, or as programs and files say.
#include <thread>

#include "actors/video/pixels/pixel_kernels.hpp"
#include "actors/video/stages/blur.hpp"
#include "actors/video/stages/sinks.hpp"
#include "actors/video/stages/test_pattern.hpp"
#include "runtime/core/make_device.hpp"
#include "runtime/core/runtime_core.hpp"
#include "runtime/streams/file/stream_file.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/player/host_player.hpp"

using namespace rondo;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace choice_test {

/// Passes pictures on. On the host it takes its time.
struct idler {
  using ports =
      streams::ports<streams::in<"video", video::image>, streams::out<"video", video::image, "video">>;
  void kernels(streams::stage_context<idler>& ctx, streams::tick const&, kernel_list&) {
    ctx.pass<"video">();
  }
  void process(streams::stage_context<idler>& ctx, streams::tick const&) {
    std::this_thread::sleep_for(100ms);
    ctx.pass<"video">();
  }
};

RONDO_STAGES(stages, idler, video::test_pattern, video::blur, video::null_sink)

}  // namespace choice_test

namespace {

using streams::kernel_choice;
constexpr std::uint64_t ticks = 5;

/// The device `cpu` beside a thread that plays kernels.
class bed {
 public:
  explicit bed(std::chrono::nanoseconds delay) : player(std::make_shared<host_player>(delay)) {}

  std::shared_ptr<host_player> player;
  runtime rt{use<choice_test::stages>, config{}, devices()};

 private:
  std::vector<chosen_device> devices() const {
    config c;
    c.device = "cpu";
    auto all = make_devices(program_of<choice_test::stages>(), c);
    all.front().player = player;
    return all;
  }
};

struct outcome {
  std::string explained;
  std::uint64_t played;  // lists, while the graph ran
};
/// A pattern, drawn on the host, and a stage behind it.
template <class Stage>
outcome run(bed& b, kernel_choice choice, streams::options_of<Stage> const& o = {},
            streams::graph_options how = {}) {
  how.ticks = ticks;
  streams::graph g{b.rt, std::move(how)};
  auto const from =
      g.add<video::test_pattern>("from", {.width = 64, .height = 48}, {.kernels = kernel_choice::host});
  auto const stage = g.add<Stage>("stage", o, {.kernels = choice});
  auto const to = g.add<video::null_sink>("to");
  g.connect(from.template out<"video">(), stage.template in<"video">());
  g.connect(stage.template out<"video">(), to.template in<"video">());
  outcome r{g.explain(), 0};
  auto const before = b.player->played();
  g.start();
  CHECK(!g.wait(60s));
  CHECK(g.counts(to).processed == ticks);
  r.played = b.player->played() - before;
  return r;
}

std::string file_with(std::string const& device) {
  return R"({"stages": [{"name": "from", "stage": "test_pattern", "device": "cpu"},
                       {"name": "soft", "stage": "blur", "device": ")" +
         device + R"("}, {"name": "to", "stage": "null_sink"}],
             "connections": [{"from": "from", "to": "soft"}, {"from": "soft", "to": "to"}]})";
}
std::string explained(runtime& rt, std::string const& file) {
  auto const f =
      streams::parse_stream_file(file, "f.json", streams::stage_catalog::of<choice_test::stages>());
  streams::graph g{rt, streams::options_of_copy(f, 0, rt)};
  streams::add_stages(g, f, 0, rt);
  return g.explain();
}

}  // namespace

TEST_CASE("a stage works on the host beside a player that is slower, and explains it", "[player]") {
  bed b{20ms};
  auto const by_itself = run<video::blur>(b, kernel_choice::measured, {.sigma = 1});
  std::string const says = " ms, on host-thread ";
  CHECK_THAT(by_itself.explained, Contains("kernels on the host: ") && Contains(says));
  CHECK(std::stod(by_itself.explained.substr(by_itself.explained.find(says) + says.size())) >= 20);
  CHECK(by_itself.played == 0);
  auto const forced = run<video::blur>(b, kernel_choice::player, {.sigma = 1});
  CHECK_THAT(forced.explained, Contains("kernels on host-thread, as its options say"));
  CHECK(forced.played == ticks);
}

TEST_CASE("a stage's kernels play where they are faster, and explain it", "[player]") {
  bed b{0ns};
  auto const by_itself = run<choice_test::idler>(b, kernel_choice::measured);
  CHECK_THAT(by_itself.explained, Contains("kernels on host-thread: ") && Contains(" ms, on the host 1"));
  CHECK(by_itself.played == ticks);
  auto const forced = run<choice_test::idler>(b, kernel_choice::host);
  CHECK_THAT(forced.explained, Contains("kernels on the host, as its options say"));
  CHECK(forced.played == 0);
}

TEST_CASE("kernels play without being measured if the graph does not measure, or the backend says so",
          "[player]") {
  bed b{20ms};
  auto const unmeasured = run<video::blur>(b, kernel_choice::measured, {}, {.measure = false});
  CHECK_THAT(unmeasured.explained, Contains("kernels on host-thread, not measured"));
  CHECK(unmeasured.played == ticks);
  auto const on_cpu = run<video::blur>(b, kernel_choice::measured, {}, {.use = streams::backend::cpu});
  CHECK_THAT(on_cpu.explained, Contains("kernels on the host, as the backend says"));
  CHECK(on_cpu.played == 0);
}

TEST_CASE("a file's stage is placed on a device, or on the player beside it, by name", "[player]") {
  bed b{20ms};
  CHECK_THAT(
      explained(b.rt, file_with("host-thread")),
      Contains(
          "soft (rondo::video::blur): cpu, as its options say; kernels on host-thread, as its options say") &&
          Contains("from (rondo::video::test_pattern): cpu, as its options say; kernels on the host, as its "
                   "options say") &&
          Contains("no kernels"));
  CHECK_THAT(explained(b.rt, file_with("cpu")),
             Contains("soft (rondo::video::blur): cpu, as its options say; kernels on "
                      "the host"));
  CHECK_THROWS_WITH(
      explained(b.rt, file_with("opencl")),
      Contains("the stage 'soft' is to work on 'opencl', but the runtime has cpu, host-thread"));
  runtime alone{use<choice_test::stages>, {.device = "cpu"}};
  CHECK_THROWS_WITH(explained(alone, file_with("opencl")),
                    Contains("the stage 'soft' is to work on 'opencl', but the runtime has cpu"));
  CHECK_THAT(explained(alone, file_with("cpu")), !Contains("kernels"));
}

TEST_CASE("a stage that is to play without a player, or without kernels, is refused by name", "[player]") {
  bed b{0ns};
  streams::graph without_kernels{b.rt};
  without_kernels.add<video::test_pattern>("from");
  without_kernels.add<video::null_sink>("to", {}, {.kernels = kernel_choice::player});
  CHECK_THROWS_WITH(without_kernels.explain(),
                    Contains("the stage 'to' is to play its kernels on host-thread, but stages of the type "
                             "rondo::video::null_sink have none"));
  runtime alone{use<choice_test::stages>, {.device = "cpu"}};
  streams::graph without_player{alone};
  without_player.add<video::test_pattern>("from", {}, {.kernels = kernel_choice::player});
  CHECK_THROWS_WITH(without_player.explain(),
                    Contains("the stage 'from' is to play its kernels on a GPU, but none"));
}
