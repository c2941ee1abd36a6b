// Three processes in a row, as docs/streams.md has them: three_processes pattern|soft|screen FIRST SECOND runs one of
// them; without arguments it runs all three, on addresses of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "actors/video/stages/network_ports.hpp"
#include "actors/video/video_module.hpp"
#include "runtime/streams/graph.hpp"

namespace streams = rondo::streams;
namespace video = rondo::video;

RONDO_STAGES(stages, video::test_pattern, video::blur, video::null_sink, video::network_source,
             video::network_sink)

using address = streams::option_text<128>;

void make_pattern(streams::graph& g, address const& first) {
  // The first process listens. Any number of readers may connect.
  auto const pattern = g.add<video::test_pattern>("pattern", {.width = 640, .height = 480});
  auto const to = g.add<video::network_sink>("to", {.listen = first});
  g.connect(pattern.out<"video">(), to.in<"video">());
}

void make_soft(streams::graph& g, address const& first, address const& second) {
  // The second one connects to the first, and listens itself.
  auto const from =
      g.add<video::network_source>("from", {.connect = first, .shape = {640, 480}, .follow_end = true});
  auto const soft = g.add<video::blur>("soft", {.sigma = 2});
  auto const to = g.add<video::network_sink>("to", {.listen = second});
  g.connect(from.out<"video">(), soft.in<"video">());
  g.connect(soft.out<"video">(), to.in<"video">());
}

void make_screen(streams::graph& g, address const& second) {
  // The third one takes the newest picture, and ends when the others have ended.
  auto const from = g.add<video::network_source>(
      "from",
      {.connect = second, .shape = {640, 480}, .delivery = streams::delivery::latest, .follow_end = true});
  auto const screen = g.add<video::null_sink>("screen");
  g.connect(from.out<"video">(), screen.in<"video">());
}

int run(std::string const& role, address const& first, address const& second) {
  rondo::runtime rt{rondo::use<stages>, {.device = "cpu"}};
  streams::graph g{rt, {.ticks = role == "pattern" ? 100u : 0u}};
  if (role == "pattern") make_pattern(g, first);
  if (role == "soft") make_soft(g, first, second);
  if (role == "screen") make_screen(g, second);
  g.start();
  if (auto const failed = g.wait())
    return std::fprintf(stderr, "%s: %s\n", role.c_str(), g.why_failed().c_str()), 1;
  auto const c = g.counts_of(0);
  std::printf("%s: %lu frames, %lu lost\n", role.c_str(), static_cast<unsigned long>(c.processed),
              static_cast<unsigned long>(c.lost));
  return role == "screen" && c.processed + c.lost != 100;
}

int run_all() {
  char folder[] = "/tmp/three_processes.XXXXXX";
  if (::mkdtemp(folder) == nullptr) return 1;
  auto const first = "unix:" + std::string(folder) + "/first",
             second = "unix:" + std::string(folder) + "/second";
  for (char const* const role : {"screen", "soft", "pattern"})
    if (::fork() == 0) {
      ::execl("/proc/self/exe", "three_processes", role, first.c_str(), second.c_str(), nullptr);
      std::_Exit(1);
    }
  int failed = 0, status = 0;
  while (::wait(&status) > 0) failed |= status;
  std::filesystem::remove_all(folder);
  return failed != 0;
}

int main(int argc, char** argv) {
  if (argc == 1) return run_all();
  address first, second;
  if (argc != 4 || !first.assign(argv[2], std::strlen(argv[2])) ||
      !second.assign(argv[3], std::strlen(argv[3])))
    return 2;
  return run(argv[1], first, second);
}
