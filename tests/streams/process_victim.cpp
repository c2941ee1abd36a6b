// One side of a port between processes, which runs until it is killed.
//
//   process_victim write <socket>   numbers without end
//   process_victim read <socket>    takes one frame, writes a line, and holds the frame
#include <cstdio>

#include "runtime/streams/graph.hpp"
#include "tests/streams/process_stages.hpp"

using namespace stream_test;

int main(int count, char** arguments) try {
  std::string const role = count == 3 ? arguments[1] : "";
  if (role != "write" && role != "read")
    return std::fprintf(stderr, "usage: process_victim write|read <socket>\n"), 2;
  rondo::runtime rt(rondo::use<process_stages>, {.device = "cpu", .teams = 2, .share_buffers = true});
  streams::graph g(rt);
  process_checker::counts found;
  if (role == "write") {
    auto const from = g.add<counter>("from", {.count = count_of_items});
    auto const out = g.add<number_sink>("out", {.listen = text_of(arguments[2])});
    g.connect(from.out<"numbers">(), out.in<"numbers">());
  } else {
    found.holds = true;
    auto const in = g.add<number_source>("in", {.connect = text_of(arguments[2]), .shape = {count_of_items}});
    auto const check = g.add<process_checker>("check", {.found = &found});
    g.connect(in.out<"numbers">(), check.in<"numbers">());
  }
  g.start();
  while (role == "write" || found.frames == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::puts("begun");
  std::fflush(stdout);
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
} catch (std::exception const& e) {
  std::fprintf(stderr, "process_victim: %s\n", e.what());
  std::_Exit(1);
}
