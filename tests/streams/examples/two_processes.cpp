// Two processes on one machine, as docs/streams.md has them: the frames of the first are read in place by the second.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "actors/video/stages/process_ports.hpp"
#include "actors/video/video_module.hpp"
#include "runtime/streams/graph.hpp"

namespace streams = rondo::streams;
namespace video = rondo::video;

RONDO_STAGES(stages, video::test_pattern, video::null_sink, video::process_sink, video::process_source)

using path = streams::option_text<108>;

void make_pattern(streams::graph& g, path const& frames) {
  // The process that writes.
  auto const pattern = g.add<video::test_pattern>("pattern", {.width = 640, .height = 480});
  auto const out = g.add<video::process_sink>("out", {.listen = frames});
  g.connect(pattern.out<"video">(), out.in<"video">());
}

void make_screen(streams::graph& g, path const& frames) {
  // The process that reads. `delivery` says what happens if it is slow.
  auto const in = g.add<video::process_source>("in", {.connect = frames, .shape = {640, 480}});
  auto const screen = g.add<video::null_sink>("screen");
  g.connect(in.out<"video">(), screen.in<"video">());
}

int run(bool writes, path const& frames) {
  rondo::runtime rt{rondo::use<stages>,
                    {.device = "cpu", .buffer_bytes_cap = 64 << 20, .share_buffers = writes}};
  streams::graph g{rt, {.ticks = 100}};
  writes ? make_pattern(g, frames) : make_screen(g, frames);
  g.start();
  if (auto const failed = g.wait()) return std::fprintf(stderr, "%s\n", g.why_failed().c_str()), 1;
  auto const c = g.counts_of(writes ? 1 : 0);
  std::printf("%s: %lu frames, %lu copied\n", writes ? "out" : "in", static_cast<unsigned long>(c.processed),
              static_cast<unsigned long>(c.copied));
  return c.processed != 100 || c.copied != 0;
}

int main() {
  char folder[] = "/tmp/two_processes.XXXXXX";
  if (::mkdtemp(folder) == nullptr) return 1;
  std::string const name = std::string(folder) + "/frames";
  path frames;
  if (!frames.assign(name.data(), name.size())) return 1;
  auto const reader = ::fork();  // before there are threads
  if (reader == 0) std::exit(run(false, frames));
  int failed = run(true, frames), status = 0;
  ::waitpid(reader, &status, 0);
  std::filesystem::remove_all(folder);
  return failed != 0 || status != 0;
}
