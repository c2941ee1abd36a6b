// Pictures between graphs of two processes, with options by name, as files give them.
#include <mutex>

#include "actors/video/stages/process_ports.hpp"
#include "actors/video/video_module.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/scratch_directory.hpp"

using namespace rondo;
using namespace std::chrono_literals;

namespace {

RONDO_STAGES(picture_stages, video::test_pattern, video::null_sink, video::process_sink,
             video::process_source)

using named_options = std::vector<std::pair<std::string, std::string>>;

template <class Stage>
typename Stage::options options_with(named_options const& all) {
  typename Stage::options o{};
  for (auto const& [name, value] : all)
    streams::set_option(streams::kind_of<Stage>(), name, value, "test", &o);
  return o;
}
template <class Stage>
std::vector<std::string> names_of() {
  typename Stage::options o{};
  std::vector<std::string> names;
  for (auto const& f : streams::options_in(streams::kind_of<Stage>(), &o)) names.emplace_back(f.name);
  return names;
}

/// Two graphs, of which the second shows the pictures that the first one makes, 64 by 48 pixels each.
struct two_graphs {
  two_graphs(std::uint64_t ticks, named_options out_options, named_options in_options)
      : writes{rt, {.name = "writes", .ticks = ticks}}, reads{rt, {.name = "reads"}} {
    auto const socket = (d.directory / "frames").string();
    out_options.emplace_back("listen", socket);
    in_options.emplace_back("connect", socket);
    auto const pattern = writes.add<video::test_pattern>("pattern", {.width = 64, .height = 48});
    out = writes.add<video::process_sink>("out", options_with<video::process_sink>(out_options));
    in = reads.add<video::process_source>("in", options_with<video::process_source>(in_options));
    screen = reads.add<video::null_sink>("screen");
    writes.connect(pattern.out<"video">(), out.in<"video">());
    reads.connect(in.out<"video">(), screen.in<"video">());
  }
  void run() {
    writes.start();
    reads.start();
    CHECK_FALSE(writes.wait(60s));
    CHECK_FALSE(reads.wait(60s));
  }

  rondo_test::scratch_directory const d{"process_video"};
  runtime rt{use<picture_stages>, {.device = "cpu", .buffer_bytes_cap = 64 << 20, .share_buffers = true}};
  streams::graph writes, reads;
  streams::stage_ref<video::process_sink> out;
  streams::stage_ref<video::process_source> in;
  streams::stage_ref<video::null_sink> screen;
};

}  // namespace

TEST_CASE("the options of the stages for pictures between processes have flat names", "[process]") {
  CHECK(names_of<video::process_sink>() ==
        std::vector<std::string>{"listen", "blocks", "readers", "linger_ms"});
  CHECK(names_of<video::process_source>() ==
        std::vector<std::string>{"connect", "width", "height", "format", "delivery", "capacity", "wait_ms"});
}

TEST_CASE("pictures pass from one process to another, with options by name", "[process]") {
  two_graphs g(20, {{"blocks", "4"}},
               {{"width", "64"}, {"height", "48"}, {"format", "i420"}, {"delivery", "lossless"}});
  g.run();
  CHECK(g.reads.counts(g.screen).processed == 20);
  CHECK(g.reads.counts(g.screen).last_number == 19);
  CHECK(g.reads.counts(g.in).skipped == 0);
  CHECK(g.writes.counts(g.out).copied == 0);
}

TEST_CASE("a picture of another size than the source has is refused with both sizes", "[process]") {
  two_graphs g(3, {}, {{"width", "32"}, {"height", "16"}});
  std::mutex mutex;
  std::string said;
  auto const lines = g.rt.on_log([&](log_line const& line) {
    std::lock_guard const lock(mutex);
    said += to_text(line) + '\n';
  });
  g.run();
  CHECK(g.reads.counts(g.screen).processed == 0);
  CHECK(rondo_test::eventually([&] {
    std::lock_guard const lock(mutex);
    return said.find("a frame of 64x48 does not fit 32x16 here") != std::string::npos;
  }));
}
