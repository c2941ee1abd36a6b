// Graphs of stages, on every device that runs here.
#include "runtime/device/emulated/emulated_module.hpp"
#include "tests/streams/bed.hpp"

using namespace stream_test;
using rondo_test::eventually;
using namespace std::chrono_literals;

RONDO_EMULATED_MODULE(stream_test::test_stages)

namespace {
using bed = bed_of<test_stages>;
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

TEST_CASE("an output with several readers passes the same block to all of them", "[streams]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bed b(device);
  streams::graph g{b.rt, {.ticks = 300}};
  auto const from = g.add<counter>("from");
  auto const plus = g.add<adder>("plus", {.by = 5});
  auto const left = g.add<checker>("left"), right = g.add<checker>("right", {.added = 5});
  g.connect(from.out<"numbers">(), left.in<"numbers">());
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  g.connect(plus.out<"numbers">(), right.in<"numbers">());
  g.start();
  REQUIRE(!g.wait(60s));
  for (auto const* name : {"graph/left", "graph/right"}) {
    auto const found = b.found(name);
    CHECK(found.frames == 300);
    CHECK(found.wrong == 0);  // nobody edits what another one reads
    CHECK(found.missing == 0);
  }
}

TEST_CASE("a slow reader with `latest` gets the newest frame and never holds the writer", "[streams]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bed b(device);
  streams::graph g{b.rt, {.ticks = 2000}};
  auto const from = g.add<counter>("from");
  auto const fast = g.add<checker>("fast");
  auto const slow = g.add<checker>("slow", {.spins = 20'000});
  g.connect(from.out<"numbers">(), fast.in<"numbers">());
  g.connect(from.out<"numbers">(), slow.in<"numbers">(), {.how = streams::delivery::latest});
  g.start();
  REQUIRE(!g.wait(60s));
  CHECK(b.found("graph/fast").missing == 0);
  auto const found = b.found("graph/slow");
  CHECK(found.wrong == 0);
  CHECK(found.out_of_order == 0);
  CHECK(g.counts(slow).last_number == 1999);
  CHECK(found.frames + g.counts(from).replaced + g.counts(slow).replaced == 2000);
}

TEST_CASE("a slow reader with `every` loses frames, which are counted", "[streams]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bed b(device);
  streams::graph g{b.rt, {.ticks = 2000}};
  auto const from = g.add<counter>("from");
  auto const fast = g.add<checker>("fast");
  auto const slow = g.add<checker>("slow", {.spins = 20'000});
  g.connect(from.out<"numbers">(), fast.in<"numbers">());
  g.connect(from.out<"numbers">(), slow.in<"numbers">(), {.how = streams::delivery::every, .capacity = 4});
  g.start();
  REQUIRE(!g.wait(60s));
  auto const found = b.found("graph/slow");
  CHECK(found.wrong == 0);
  CHECK(found.out_of_order == 0);
  CHECK(found.frames + g.counts(from).dropped == 2000);
}

TEST_CASE("a stage that fails restarts, and sees the same frame again: nothing is lost", "[streams]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bed b(device);
  streams::graph g{b.rt, {.ticks = 500}};
  auto const from = g.add<counter>("from");
  auto const frail = g.add<adder>("frail", {.by = 1, .fails_every = 10}, {.supervise = always_restarted});
  auto const to = g.add<checker>("to", {.added = 1});
  g.connect(from.out<"numbers">(), frail.in<"numbers">());
  g.connect(frail.out<"numbers">(), to.in<"numbers">());
  g.start();
  REQUIRE(!g.wait(60s));
  auto const found = b.found("graph/to");
  CHECK(found.frames == 500);
  CHECK(found.wrong == 0);
  CHECK(found.missing == 0);
  auto const counts = g.counts(frail);
  CHECK(counts.failed == 50);
  CHECK(counts.processed == 500);
  CHECK(counts.skipped == 0);
}

TEST_CASE("a frame that always fails its stage is given up and counted, and the others pass", "[streams]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bed b(device);
  streams::graph g{b.rt, {.ticks = 100}};
  auto const from = g.add<counter>("from");
  auto const frail = g.add<adder>("frail", {.by = 1, .fails_always_at = 40});
  auto const to = g.add<checker>("to", {.added = 1});
  g.connect(from.out<"numbers">(), frail.in<"numbers">());
  g.connect(frail.out<"numbers">(), to.in<"numbers">());
  g.start();
  REQUIRE(!g.wait(60s));
  auto const found = b.found("graph/to");
  CHECK(found.frames == 99);
  CHECK(found.missing == 1);
  CHECK(g.counts(frail).failed == 3);
  CHECK(g.counts(frail).skipped == 1);
  CHECK(g.counts(frail).processed == 99);
}

TEST_CASE("a stage that its supervision stops ends the graph, with its name", "[streams]") {
  bed b("cpu");
  streams::graph g{b.rt};
  auto const from = g.add<counter>("from");
  auto const frail =
      g.add<adder>("frail", {.fails_always_at = 40}, {.supervise = {.rule = on_failure::stop}});
  auto const to = g.add<checker>("to");
  g.connect(from.out<"numbers">(), frail.in<"numbers">());
  g.connect(frail.out<"numbers">(), to.in<"numbers">());
  g.start();
  CHECK(g.wait(60s) == errc::terminated);
  CHECK(g.why_failed().find("graph/frail") != std::string::npos);
}

// All stages were gone, so it had "ended", before it was known that one had failed.
TEST_CASE("a graph whose only stage is stopped before its first frame has failed", "[streams]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bed b(device);
  streams::graph g{b.rt};
  g.add<stillborn>("only", {}, {.supervise = {.rule = on_failure::stop}});
  g.start();
  CHECK(g.wait(60s) == errc::terminated);
  CHECK(g.why_failed().find("'graph/only' was stopped") == 0);
}

TEST_CASE("replicas take frames in turn, and their order is kept", "[streams]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bed b(device);
  streams::graph g{b.rt, {.ticks = 600, .window = 12}};
  auto const from = g.add<counter>("from");
  auto const slow = g.add<adder>("slow", {.by = 2, .fails_always_at = 300, .spins = 2'000}, {.replicas = 3});
  auto const to = g.add<checker>("to", {.added = 2});
  g.connect(from.out<"numbers">(), slow.in<"numbers">());
  g.connect(slow.out<"numbers">(), to.in<"numbers">());
  g.start();
  REQUIRE(!g.wait(60s));
  auto const found = b.found("graph/to");
  CHECK(found.frames == 599);
  CHECK(found.wrong == 0);
  CHECK(found.out_of_order == 0);
  CHECK(found.missing == 1);  // the one that was given up
  CHECK(g.counts(slow).processed == 599);
}

TEST_CASE("a graph that is not paced has the times of its rate, and no tick is late or skipped",
          "[streams]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bed b(device);
  // A tick takes far longer than a period, but all of them far less than with a period of an hour.
  auto const rate = GENERATE(1e5, 1.0 / 3600);
  streams::graph g{b.rt, {.rate = rate, .ticks = 60, .paced = false}};
  auto const from = g.add<counter>("from");
  auto const to = g.add<checker>("to", {.spins = 100'000, .step_ns = static_cast<std::uint64_t>(1e9 / rate)});
  g.connect(from.out<"numbers">(), to.in<"numbers">());
  g.start();
  REQUIRE(!g.wait(60s));
  auto const found = b.found("graph/to");
  CHECK(found.frames == 60);
  CHECK(found.wrong == 0);
  CHECK(found.missing == 0);
  CHECK(g.counts(from).skipped == 0);
  CHECK(g.counts(to).late == 0);
}

TEST_CASE("a source may end by itself, and the graph ends with it", "[streams]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bed b(device);
  streams::graph g{b.rt, {.rate = 2000}};
  auto const from = g.add<counter>("from", {.ends_after = 50});
  auto const to = g.add<checker>("to");
  g.connect(from.out<"numbers">(), to.in<"numbers">());
  g.start();
  REQUIRE(!g.wait(60s));
  auto const counts = g.counts(from);
  CHECK(counts.last_number >= 49);  // on a busy machine the source skips ticks, perhaps this one
  CHECK(counts.processed + counts.skipped == counts.last_number + 1);
  CHECK(b.found("graph/to").frames == counts.processed);
}

TEST_CASE("stop lets the frames under way arrive", "[streams]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bed b(device);
  streams::graph g{b.rt};
  auto const from = g.add<counter>("from");
  auto const plus = g.add<adder>("plus", {.by = 1, .spins = 1000});
  auto const to = g.add<checker>("to", {.added = 1});
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  g.connect(plus.out<"numbers">(), to.in<"numbers">());
  g.start();
  REQUIRE(eventually([&] { return g.counts(to).processed > 100; }));
  CHECK(!g.stop());
  auto const found = b.found("graph/to");
  CHECK(found.frames == g.counts(from).processed);
  CHECK(found.missing == 0);
}

TEST_CASE("a graph passes its frames between devices by transfers, one for all readers there", "[streams]") {
  bed b("cpu,emulated");
  std::vector<std::string> warnings;
  streams::graph g{b.rt, {.ticks = 200, .warn = [&](std::string const& line) { warnings.push_back(line); }}};
  auto const from = g.add<counter>("from", {}, {.device = 0});
  auto const plus = g.add<adder>("plus", {.by = 1}, {.device = 1});
  auto const also = g.add<checker>("also", {}, {.device = 1});
  auto const to = g.add<checker>("to", {.added = 1}, {.device = 0});
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  g.connect(from.out<"numbers">(), also.in<"numbers">());
  g.connect(plus.out<"numbers">(), to.in<"numbers">());
  CHECK(g.negotiated_place(plus) == 1);
  g.start();
  REQUIRE(!g.wait(60s));
  CHECK(b.found("graph/to").frames == 200);
  CHECK(b.found("graph/to").wrong == 0);
  CHECK(b.found("graph/also").frames == 200);
  CHECK(b.found("graph/also").wrong == 0);
  std::uint64_t copies = 0;
  for (auto const& e : g.edges()) copies += e.copies;
  CHECK(copies == 400);  // one there, one back
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].find("from.numbers") != std::string::npos);
  CHECK(warnings[0].find(" us each") != std::string::npos);  // as measured
}

TEST_CASE("transfers can be placed by hand: the graph neither warns of them nor refuses them if it is strict",
          "[streams]") {
  bed b("cpu,emulated");
  std::vector<std::string> warnings;
  auto const warn = [&](std::string const& line) { warnings.push_back(line); };
  streams::graph g{b.rt, {.ticks = 200, .strict = true, .warn = warn}};
  auto const from = g.add<counter>("from", {}, {.device = 0});
  auto const up = g.add<numbers_to_device>("up");
  auto const plus = g.add<adder>("plus", {.by = 1}, {.device = 1});
  auto const also = g.add<checker>("also", {}, {.device = 1});
  auto const down = g.add<numbers_to_host>("down");
  auto const to = g.add<checker>("to", {.added = 1}, {.device = 0});
  g.connect(from.out<"numbers">(), up.in<"numbers">());
  g.connect(up.out<"numbers">(), plus.in<"numbers">());
  g.connect(up.out<"numbers">(), also.in<"numbers">());
  g.connect(plus.out<"numbers">(), down.in<"numbers">());
  SECTION("by hand alone") {
    g.connect(down.out<"numbers">(), to.in<"numbers">());
    CHECK(g.negotiated_place(up) == 1);
    CHECK(g.negotiated_place(down) == 0);
    g.start();
    REQUIRE(!g.wait(60s));
    CHECK(warnings.empty());
    CHECK(b.found("graph/to").frames == 200);
    CHECK(b.found("graph/to").wrong == 0);
    CHECK(b.found("graph/also").frames == 200);
    std::uint64_t copies = 0;
    for (auto const& e : g.edges()) copies += e.copies;
    CHECK(copies == 400);
    CHECK(g.counts(up).copied + g.counts(down).copied == 0);
  }
  SECTION("and one that nobody has placed") {
    g.connect(plus.out<"numbers">(), to.in<"numbers">());
    CHECK_THROWS_WITH(g.start(), Catch::Contains("strict") && Catch::Contains("plus.numbers"));
  }
}

TEST_CASE("a stage works where it was measured to be fast, and the graph says so", "[streams]") {
  using Catch::Matchers::Contains;
  bed b("cpu,emulated");
  auto const slow_on = GENERATE(0u, 1u);
  board said;
  streams::graph g{b.rt, {.ticks = 20, .strict = true}};
  auto const from = g.add<announcer>("from", {.on = &said});
  auto const middle = g.add<fussy>("middle", {.slow_on = slow_on});
  auto const to = g.add<checker>("to");
  g.connect(from.out<"numbers">(), middle.in<"numbers">());
  g.connect(middle.out<"numbers">(), to.in<"numbers">());
  CHECK(g.negotiated_place(middle) == 1 - slow_on);
  CHECK(g.negotiated_place(from) == 1 - slow_on);         // so nothing is copied
  CHECK(said.complete.load(memory_order::acquire) == 0);  // nobody has run the source
  CHECK_THAT(g.explain(), Contains("measured: ") && Contains(" ms on cpu") && Contains(" ms on emulated"));
  g.start();
  REQUIRE(!g.wait(60s));
  CHECK(b.found("graph/to").frames == 20);
  CHECK(g.counts(middle).processed == 20);

  streams::graph unmeasured{b.rt, {.name = "unmeasured", .measure = false}};
  auto const one = unmeasured.add<counter>("one");
  auto const two = unmeasured.add<fussy>("two", {.slow_on = 1});
  unmeasured.connect(one.out<"numbers">(), two.in<"numbers">());
  CHECK(unmeasured.negotiated_place(two) == 1);  // frames stay in the device's memory
  CHECK(unmeasured.explain().find("measured") == std::string::npos);

  streams::graph failing{b.rt, {.name = "failing"}};
  auto const three = failing.add<counter>("three");
  auto const four = failing.add<fussy>("four", {.fails = 1});
  failing.connect(three.out<"numbers">(), four.in<"numbers">());
  CHECK(failing.negotiated_place(four) == 1);  // no time is known
  CHECK(failing.explain().find("measured") == std::string::npos);
}

TEST_CASE(
    "a graph that needs more blocks than a pool has slots says so, with the setting, and works with more",
    "[streams]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  constexpr std::uint32_t few = 4, enough = 1000, stages = 30;
  auto const run_with = [&](std::uint32_t slots) {
    runtime rt{use<test_stages>, {.device = device, .teams = 1, .buffer_slots = slots}};
    auto const quietly = rt.on_log([](log_line const&) {});
    streams::graph g{rt, {.ticks = 10}};
    auto const from = g.add<counter>("from");
    auto out = from.out<"numbers">();
    for (std::uint32_t i = 0; i < stages; ++i) {
      auto const next = g.add<adder>("adder " + std::to_string(i), {.by = 1});
      g.connect(out, next.in<"numbers">());
      out = next.out<"numbers">();
      auto const reader = g.add<checker>("checker " + std::to_string(i), {.added = i + 1});
      g.connect(out, reader.in<"numbers">());
    }
    g.start();
    REQUIRE(!g.wait(60s));
    return g.counts(from).processed;
  };
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(run_with(few), Contains("all slots for buffers are in use") &&
                                       Contains("4 of 4 slots (buffer_slots)") &&
                                       Contains("RONDO_BUFFER_SLOTS"));
  CHECK(run_with(enough) == 10);
}

TEST_CASE("a graph that cannot start says why, and where", "[streams]") {
  using Catch::Matchers::Contains;
  bed b("cpu,emulated");
  streams::graph g{b.rt, {.strict = true}};
  CHECK_THROWS_WITH(g.start(), Contains("no stages"));
  auto const from = g.add<counter>("from");
  auto const plus = g.add<adder>("plus");
  CHECK_THROWS_WITH(g.add<adder>("plus"), Contains("'plus' already"));
  CHECK_THROWS_WITH(g.start(), Contains("plus.numbers is not connected"));
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  CHECK_THROWS_WITH(g.connect(plus.out<"numbers">(), plus.in<"numbers">()), Contains("one writer"));

  streams::graph strict{b.rt, {.strict = true}};
  auto const here = strict.add<counter>("here", {}, {.device = 0});
  auto const there = strict.add<checker>("there", {}, {.device = 1});
  strict.connect(here.out<"numbers">(), there.in<"numbers">());
  CHECK_THROWS_WITH(strict.start(), Contains("here.numbers would be copied from cpu to emulated"));

  streams::graph circle{b.rt};
  auto const a = circle.add<adder>("a"), c = circle.add<adder>("c");
  circle.connect(a.out<"numbers">(), c.in<"numbers">());
  circle.connect(c.out<"numbers">(), a.in<"numbers">());
  CHECK_THROWS_WITH(circle.start(), Contains("circle") && Contains("'a'"));

  streams::graph replicas{b.rt};
  auto const source = replicas.add<counter>("source");
  auto const many = replicas.add<adder>("many", {}, {.replicas = 2});
  auto const sink = replicas.add<checker>("sink");
  replicas.connect(source.out<"numbers">(), many.in<"numbers">());
  replicas.connect(many.out<"numbers">(), sink.in<"numbers">(), {.how = streams::delivery::latest});
  CHECK_THROWS_WITH(replicas.start(), Contains("sink.numbers") && Contains("lossless"));

  streams::graph nowhere{b.rt, {.use = streams::backend::cuda}};
  nowhere.add<counter>("from");
  CHECK_THROWS_WITH(nowhere.start(), Contains("'from' can work on none") && Contains("cuda"));
}
