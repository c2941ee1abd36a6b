// What observers see of graphs that run.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "runtime/observe/graph_reports.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/streams/stages.hpp"

using namespace stream_test;
using rondo_test::eventually;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace report_test {

stage_report const* stage_of_name(graph_report const& g, std::string_view name) {
  for (auto const& s : g.stages)
    if (s.name == name) return &s;
  return nullptr;
}

/// Its handlers wait here.
struct gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_open = false;
  std::uint32_t inside = 0;

  void pass() {
    std::unique_lock lock(mutex);
    ++inside;
    changed.notify_all();
    changed.wait(lock, [this] { return is_open; });
  }
  void wait_inside() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return inside != 0; });
  }
  void open() {
    std::lock_guard const lock(mutex);
    is_open = true;
    changed.notify_all();
  }
};

/// A sink on the host that does not return before its gate is open.
struct stuck_sink {
  using ports = streams::ports<streams::in<"numbers", numbers>>;
  static constexpr auto where = streams::works::on_host;
  struct options {
    gate* at;
  };
  void process(streams::stage_context<stuck_sink>& ctx, streams::tick const&) { ctx.options().at->pass(); }
};

RONDO_STAGES(gated_stages, counter, stuck_sink)

}  // namespace report_test
using namespace report_test;

TEST_CASE("a report describes a graph's stages, edges and transfers", "[streams][report]") {
  runtime rt{use<test_stages>, {.device = "cpu,emulated"}};
  streams::graph g{rt, {.name = "studio", .warn = [](std::string const&) {}}};
  auto const from = g.add<counter>("from", {}, {.device = 0});
  auto const plus = g.add<adder>("plus", {.by = 3}, {.device = 1, .replicas = 2});
  auto const to = g.add<checker>("to", {.added = 3}, {.device = 1});
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  g.connect(plus.out<"numbers">(), to.in<"numbers">());
  CHECK(rt.graphs().read().empty());
  g.start();
  graph_report r;
  REQUIRE(eventually([&] {
    auto all = rt.graphs().read();
    REQUIRE(all.size() == 1);
    r = std::move(all[0]);
    return stage_of_name(r, "to")->counts.processed > 100;
  }));
  CHECK(r.name == "studio");
  CHECK(r.state == graph_state::running);
  CHECK(r.why_failed.empty());
  REQUIRE(r.stages.size() == 3);
  auto const& p = *stage_of_name(r, "plus");
  CHECK(p.type == "stream_test::adder");
  CHECK(p.device == 1);
  CHECK(p.replicas == 2);
  CHECK(p.counted_at_ns != 0);
  CHECK(p.counts.busy_ns != 0);
  CHECK(stage_of_name(r, "from")->device == 0);
  REQUIRE(r.edges.size() == 2);
  CHECK(r.edges[0].from == "from.numbers");
  CHECK(r.edges[0].to == "plus.numbers");
  CHECK(r.edges[0].delivery == "lossless");
  REQUIRE(r.transfers.size() == 1);
  CHECK(r.transfers[0].from == "from.numbers");
  CHECK(r.transfers[0].to_device == 1);
  CHECK(r.transfers[0].bytes == 64);
  CHECK(r.transfers[0].copies > 100);
  CHECK(r.transfers[0].copy_ns != 0);
  REQUIRE(!g.stop());
  CHECK(rt.graphs().read().at(0).state == graph_state::ended);
}

TEST_CASE("the last report of a graph that has ended has all its counts", "[streams][report]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  runtime rt{use<test_stages>, {.device = device}};
  auto g = std::make_unique<streams::graph>(rt, streams::graph_options{.ticks = 500});
  auto const from = g->add<counter>("from");
  auto const to = g->add<checker>("to", {.spins = 2000});
  g->connect(from.out<"numbers">(), to.in<"numbers">(), {.how = streams::delivery::every, .capacity = 2});
  g->start();
  // Somebody looks all the time, also while the graph is destroyed; no look sees more than there was.
  std::atomic<bool> grows{true};
  std::jthread looks([&](std::stop_token stop) {
    for (std::uint64_t seen = 0; !stop.stop_requested();) {
      auto const all = rt.graphs().read();
      if (all.empty()) continue;
      auto const now = stage_of_name(all[0], "from")->counts.processed;
      if (now < seen || now > 500) grows = false;
      seen = now;
    }
  });
  REQUIRE(!g->wait(60s));
  auto const r = rt.graphs().read().at(0);
  CHECK(r.state == graph_state::ended);
  auto const& first = stage_of_name(r, "from")->counts;
  auto const& last = stage_of_name(r, "to")->counts;
  CHECK(first.processed == 500);
  CHECK(first.dropped + last.processed == 500);
  CHECK(last.ended == 1);
  g.reset();
  CHECK(rt.graphs().read().empty());
  looks.request_stop();
  looks.join();
  CHECK(grows);
}

TEST_CASE("a graph is reported while its stages are replaced", "[streams][report]") {
  runtime rt{use<test_stages>, {.device = "cpu"}};
  streams::graph g{rt, {.rate = 500}};
  auto const from = g.add<counter>("from");
  auto const plus = g.add<adder>("plus", {.by = 1});
  auto const to = g.add<checker>("to", {.added = 1});
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  g.connect(plus.out<"numbers">(), to.in<"numbers">());
  g.start();
  std::atomic<bool> as_it_is{true};
  std::jthread looks([&](std::stop_token stop) {
    while (!stop.stop_requested()) {
      auto const all = rt.graphs().read();
      if (all.size() != 1 || stage_of_name(all[0], "plus")->type != "stream_test::adder") as_it_is = false;
    }
  });
  for (int i = 0; i < 20; ++i) g.replace(plus, {.by = 1});
  looks.request_stop();
  looks.join();
  CHECK(as_it_is);
  CHECK(!g.stop());
}

TEST_CASE("a graph that has failed says so", "[streams][report]") {
  runtime rt{use<test_stages>, {.device = "cpu"}};
  streams::graph g{rt, {}};
  auto const from = g.add<counter>("from");
  auto const plus = g.add<adder>("plus", {.fails_always_at = 5}, {.supervise = {.rule = on_failure::stop}});
  auto const to = g.add<checker>("to", {.added = 1});
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  g.connect(plus.out<"numbers">(), to.in<"numbers">());
  g.start();
  REQUIRE(g.wait(60s));
  auto const r = rt.graphs().read().at(0);
  CHECK(r.state == graph_state::failed);
  CHECK_THAT(r.why_failed, Contains("'graph/plus' was stopped"));
}

// They were all 0, also those of the stage that had failed.
TEST_CASE("what the stages had done is known after the graph has failed", "[streams][report]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  INFO(device);
  runtime rt{use<test_stages>, {.device = device}};
  streams::graph g{rt, {.window = 8}};
  auto const from = g.add<counter>("from");
  auto const plus =
      g.add<adder>("plus", {.by = 1, .fails_always_at = 40}, {.supervise = {.max_restarts = 0}});
  auto const to = g.add<checker>("to", {.added = 1});
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  g.connect(plus.out<"numbers">(), to.in<"numbers">());
  g.start();
  bool const looks_before_the_end = GENERATE(false, true);
  if (looks_before_the_end) {
    REQUIRE(eventually([&] { return g.why_failed() != ""; }));
    CHECK(g.counts(plus).processed == 40);
  }
  REQUIRE(g.wait(60s) == errc::terminated);
  CHECK(g.counts(from).processed >= 41);
  CHECK(g.counts(from).processed <= 41 + 8);
  CHECK(g.counts(plus).processed == 40);
  CHECK(g.counts(plus).failed == 1);
  CHECK(g.counts(plus).last_number == 39);
  CHECK(g.counts(plus).ended == 1);
  CHECK(g.counts(to).processed <= 40);
  auto const r = rt.graphs().read().at(0);
  REQUIRE(r.stages.size() == 3);
  CHECK(r.stages[0].counts.processed == g.counts(from).processed);
  CHECK(r.stages[1].counts.processed == 40);
  CHECK(r.stages[2].counts.processed == g.counts(to).processed);
}

TEST_CASE("a stage that is stuck does not hold a report, which shows what is known", "[streams][report]") {
  gate at;
  runtime rt{use<gated_stages>, {.device = "cpu", .teams = 2}};
  streams::graph g{rt, {}};
  auto const from = g.add<counter>("from");
  auto const to = g.add<stuck_sink>("to", {&at});
  g.connect(from.out<"numbers">(), to.in<"numbers">());
  struct opener {  // also if a check fails
    gate& at;
    ~opener() { at.open(); }
  } const end{at};
  g.start();
  at.wait_inside();
  graph_report r;
  REQUIRE(
      eventually([&] {  // the other stage answers, even if a report does not wait for it on a loaded machine
        r = rt.graphs().read().at(0);
        return stage_of_name(r, "from")->counted_at_ns != 0;
      }));
  CHECK(stage_of_name(r, "to")->counted_at_ns == 0);
  at.open();
  CHECK(eventually([&] {
    r = rt.graphs().read().at(0);
    return stage_of_name(r, "to")->counted_at_ns != 0 && stage_of_name(r, "to")->counts.processed != 0;
  }));
  REQUIRE(!g.stop());
}

TEST_CASE("of several graphs with one name the newest is reported, and a membership ends once", "[report]") {
  graph_reports all;
  auto const named = [](char const* name, double rate) {
    return [=] {
      graph_report r;
      r.name = name;
      r.rate = rate;
      return r;
    };
  };
  auto old = all.add(named("a", 1));
  auto other = all.add(named("b", 2));
  {
    auto const same = all.add(named("a", 3));
    auto const now = all.read();
    REQUIRE(now.size() == 2);
    CHECK(now[0].name == "b");
    CHECK(now[1].rate == 3);
  }
  REQUIRE(all.read().size() == 2);
  CHECK(all.read()[0].rate == 1);
  other = std::move(old);
  REQUIRE(all.read().size() == 1);
  CHECK(all.read()[0].name == "a");
  other = {};
  CHECK(all.read().empty());
}

TEST_CASE("the end of a membership waits for the report in progress", "[report]") {
  graph_reports all;
  gate at;
  std::atomic<bool> has_ended{false};
  auto one = all.add([&] {
    at.pass();
    CHECK_FALSE(has_ended);
    return graph_report{};
  });
  std::thread reader([&] { static_cast<void>(all.read()); });
  at.wait_inside();
  std::thread ender([&] {
    one = {};
    has_ended = true;
  });
  at.open();
  reader.join();
  ender.join();
  CHECK(all.read().empty());
}

TEST_CASE("a slow tick is warned of with the stage's name and the time", "[streams][report]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  runtime rt{use<test_stages>, {.device = device}};
  std::mutex mutex;
  std::vector<log_line> lines;
  auto const log = rt.on_log([&](log_line const& line) {
    std::lock_guard const lock(mutex);
    if (line.level == log_level::warning) lines.push_back(line);
  });
  streams::graph g{rt, {.name = "studio", .ticks = 2, .slow = 1us}};
  auto const from = g.add<counter>("from");
  auto const slow = g.add<adder>("slow", {.spins = 200'000});
  auto const to = g.add<checker>("to", {.added = 1});
  g.connect(from.out<"numbers">(), slow.in<"numbers">());
  g.connect(slow.out<"numbers">(), to.in<"numbers">());
  g.start();
  REQUIRE(!g.wait(60s));
  std::string text;
  REQUIRE(eventually([&] {
    std::lock_guard const lock(mutex);
    for (auto const& l : lines)
      if (l.actor_name == "studio/slow") text = l.text;
    return !text.empty();
  }));
  unsigned long number = 9, took = 0;
  REQUIRE(std::sscanf(text.c_str(), "tick %lu took %lu us, longer than 1 us", &number, &took) == 2);
  CHECK(number == 0);
  CHECK(took > 1);
}
