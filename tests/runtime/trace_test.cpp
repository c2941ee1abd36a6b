// A message's path through several actors can be read in its trace, on one device and across two.
#include <algorithm>
#include <map>
#include <set>

#include "runtime/lifecycle.hpp"
#include "runtime/messaging/trace_log.hpp"
#include "runtime/observe/chrome_trace.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/counter_fixture.hpp"
#include "tests/runtime/relay_fixture.hpp"

using namespace rondo_test;

namespace {

/// The trace, once it has `hops` hops.
std::vector<rondo::trace_hop> trace_of(rondo::runtime& rt, std::uint64_t trace, std::size_t hops) {
  REQUIRE(eventually([&] { return rt.traces().read(trace).size() >= hops; }));
  return rt.traces().read(trace);
}

struct tree {
  std::map<std::uint32_t, rondo::trace_hop> by_hop;

  explicit tree(std::vector<rondo::trace_hop> const& hops) {
    for (auto const& h : hops) by_hop[h.hop] = h;
    CHECK(by_hop.size() == hops.size());
  }
  /// The actors of its senders, starting with the program.
  std::vector<std::string> way_to(rondo::trace_hop const& h) const {
    std::vector<std::string> way;
    for (auto const* at = &h;; at = &by_hop.at(at->parent)) {
      way.insert(way.begin(), at->on_host ? "program" : at->actor_name);
      if (at->parent == 0) return way;
    }
  }
};

}  // namespace

TEST_CASE("a message's path through three relays and back is one tree", "[trace]") {
  std::string const devices = GENERATE("cpu", "cpu,emulated");
  CAPTURE(devices);
  auto rt = start_relays({.device = devices, .teams = 2});
  auto const relays = launch_chain(*rt, 3);
  auto const trace = rt->traces().new_trace();
  auto const answer = relays[0].ask(hop{5}, {.timeout = 20s, .trace = trace}, rondo::block);
  REQUIRE(answer.has_value());
  CHECK(answer->number == 5);

  // The call; the request at each of the three relays; the answer at two of them.
  auto const hops = trace_of(*rt, trace, 6);
  REQUIRE(hops.size() == 6);
  tree const t(hops);
  std::set<std::vector<std::string>> ways;
  for (auto const& h : hops) {
    CHECK(h.trace == trace);
    CHECK(h.handled);
    CHECK(h.outcome == errc::ok);
    CHECK(h.sent_ns <= h.begun_ns);
    CHECK(h.begun_ns <= h.ended_ns);
    ways.insert(t.way_to(h));
    if (h.parent == 0) {
      CHECK(h.on_host);
      continue;
    }
    auto const& from = t.by_hop.at(h.parent);
    CHECK(from.begun_ns <= h.sent_ns);
    CHECK((from.on_host || h.sent_ns <= from.ended_ns));
  }
  CHECK(ways == std::set<std::vector<std::string>>{
                    {"program"},
                    {"program", "relay 0"},
                    {"program", "relay 0", "relay 1"},
                    {"program", "relay 0", "relay 1", "relay 2"},
                    {"program", "relay 0", "relay 1", "relay 2", "relay 1"},
                    {"program", "relay 0", "relay 1", "relay 2", "relay 1", "relay 0"}});
}

TEST_CASE("a trace contains what callers were told, and why a message was not handled", "[trace]") {
  auto rt = start();
  auto const a = rt->launch<counter>("a", {.active = false});
  auto const trace = rt->traces().new_trace();
  REQUIRE_FALSE(a.try_tell(add{1}, {.deadline = 1us, .trace = trace}));
  std::this_thread::sleep_for(1ms);
  rondo::activate(a, rondo::block);
  auto const hops = trace_of(*rt, trace, 2);
  REQUIRE(hops.size() == 2);
  auto const& late = hops[0].on_host ? hops[1] : hops[0];
  CHECK_FALSE(late.handled);
  CHECK(late.outcome == errc::timed_out);
  CHECK(late.message == std::string(rondo::type_name<add>));
}

TEST_CASE("a failed attempt and the next one are hops of one message", "[trace]") {
  auto rt = start();
  auto const a = rt->launch<counter>("a");
  auto const trace = rt->traces().new_trace();
  REQUIRE_FALSE(a.try_tell(boom{}, {.trace = trace}));
  auto const hops = trace_of(*rt, trace, 5);  // the call, three attempts, and its quarantine
  REQUIRE(hops.size() == 5);
  std::multiset<int> tries;
  for (auto const& h : hops)
    if (!h.on_host && h.handled) {
      tries.insert(h.attempt);
      CHECK(h.outcome == errc::handler_failed);
    }
  CHECK(tries == std::multiset<int>{0, 1, 2});
  // The call may be recorded after the hops that it caused.
  CHECK(std::ranges::count_if(
            hops, [](auto const& h) { return !h.handled && h.outcome == errc::quarantined; }) == 1);
}

TEST_CASE("one of `trace_every` messages is traced automatically", "[trace]") {
  auto rt = start({.device = "cpu", .teams = 1, .trace_every = 4});
  auto const a = rt->launch<counter>("a", {.capacity = 128});
  for (int i = 0; i < 40; ++i) {
    if (i % 2 == 0)
      REQUIRE_FALSE(a.try_tell(add{1}));
    else
      REQUIRE(a.ask(get{}, 20s, rondo::block).has_value());
  }
  auto const hops = trace_of(*rt, 0, 20);
  CHECK(hops.size() == 20);
  std::set<std::uint64_t> traces;
  for (auto const& h : hops) traces.insert(h.trace);
  CHECK(traces.size() == 10);
}

TEST_CASE("the last hops are kept, and dropped ones are counted", "[trace]") {
  auto rt = start({.device = "cpu", .teams = 1, .trace_every = 1, .trace_hops = 8});
  auto const a = rt->launch<counter>("a", {.capacity = 128});
  for (int i = 0; i < 20; ++i) REQUIRE_FALSE(a.try_tell(add{1}));
  REQUIRE(eventually([&] { return rt->traces().read().size() + rt->traces().forgotten() == 40; }));
  CHECK(rt->traces().read().size() == 8);
}

TEST_CASE("a message without room for a tag is sent without one", "[trace]") {
  auto rt = start_relays({.device = "cpu", .teams = 1});
  auto const relays = launch_chain(*rt, 1);
  auto const trace = rt->traces().new_trace();
  large m{};
  m.last = 7;
  auto const answer = relays[0].ask(m, {.timeout = 20s, .trace = trace}, rondo::block);
  REQUIRE(answer.has_value());
  CHECK(answer->number == 7);
  CHECK(rt->traces().read(trace).empty());
}
