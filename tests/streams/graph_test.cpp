// Graphs of stages, on every device that runs here.
#include <cstdio>
#include <map>
#include <mutex>

#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/streams/stages.hpp"

using namespace stream_test;
using rondo_test::eventually;
using namespace std::chrono_literals;

RONDO_EMULATED_MODULE(stream_test::test_stages)

namespace stream_test {

std::string counter::shapes(options const& o, streams::shapes_of<counter>& s) {
  s.out<"numbers">({o.count});
  return {};
}
std::uint64_t checker::scratch_bytes(options const&, streams::shapes_of<checker> const&) {
  return sizeof(found);
}

}  // namespace stream_test

namespace {

/// A runtime, and what its checkers have found.
struct bed {
  explicit bed(std::string device, std::uint32_t lanes = 0)
      : rt(use<test_stages>, {.device = std::move(device), .lanes = lanes}),
        log(rt.on_log([this](log_line const& line) {
          std::uint64_t f[4];
          if (std::sscanf(line.text.c_str(), "found %lu %lu %lu %lu", f, f + 1, f + 2, f + 3) != 4) return;
          std::lock_guard const lock(mutex);
          results[line.actor_name] = {f[0], f[1], f[2], f[3], 0, 0};
        })) {}

  checker::found found(std::string const& name) {
    checker::found f{};
    REQUIRE(eventually([&] {
      std::lock_guard const lock(mutex);
      if (!results.contains(name)) return false;
      f = results[name];
      return true;
    }));
    return f;
  }

  runtime rt;
  std::mutex mutex;
  std::map<std::string, checker::found> results;
  subscription log;
};

}  // namespace

TEST_CASE("a chain of stages passes each frame once, in order, in place", "[streams]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bed b(device);
  streams::graph g{b.rt, {.ticks = 1000}};
  auto const from = g.add<counter>("from");
  auto const plus = g.add<adder>("plus", {.by = 3});
  auto const more = g.add<adder>("more", {.by = 4});
  auto const to = g.add<checker>("to", {.added = 7});
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  g.connect(plus.out<"numbers">(), more.in<"numbers">());
  g.connect(more.out<"numbers">(), to.in<"numbers">());
  g.start();
  REQUIRE(!g.wait(60s));
  auto const found = b.found("graph/to");
  CHECK(found.frames == 1000);
  CHECK(found.wrong == 0);
  CHECK(found.out_of_order == 0);
  CHECK(found.missing == 0);
  CHECK(g.counts(plus).processed == 1000);
  CHECK(g.counts(plus).copied == 0);
  CHECK(g.counts(to).ended == 1);
}
