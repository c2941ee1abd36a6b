// Stages that end their graph: because they need no more, or because they cannot go on.
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/streams/stages.hpp"

using namespace stream_test;
using namespace std::chrono_literals;

namespace endings_test {

/// Passes numbers on, and needs `most` of them.
struct taker {
  using ports = streams::ports<streams::in<"numbers", numbers>, streams::out<"numbers", numbers, "numbers">>;
  struct options {
    std::uint64_t most = 10;
  };
  RONDO_HD void process(streams::stage_context<taker>& ctx, streams::tick const& t) {
    ctx.pass<"numbers">();
    if (t.number + 1 >= ctx.options().most) ctx.end();
  }
};

/// Reads two inputs, both lossless.
struct joiner {
  using ports = streams::ports<streams::in<"left", numbers>, streams::in<"right", numbers>>;
  RONDO_HD void process(streams::stage_context<joiner>&, streams::tick const&) {}
};

/// Its half on the host breaks.
struct breaker {
  using ports = streams::ports<streams::in<"numbers", numbers>>;
  struct options {
    std::uint64_t breaks_at = ~0ull;
    bool breaks_on_stop = false;
    bool* closed = nullptr;
  };
  static constexpr auto where = streams::works::on_host;
  struct host {
    explicit host(options const& o) : closed(o.closed) {}
    ~host() { *closed = true; }
    streams::stage_error why_failed() const { return {streams::fault::unavailable, why}; }
    std::string why{};
    bool* closed;
  };
  void process(streams::stage_context<breaker>& ctx, streams::tick const& t) {
    if (t.number == ctx.options().breaks_at) fail(ctx, "the device is on fire");
  }
  void on_stop(streams::stage_context<breaker>& ctx) {
    if (ctx.options().breaks_on_stop) fail(ctx, "the last page is torn");
  }
  static void fail(streams::stage_context<breaker>& ctx, char const* why) {
    ctx.host().why = why;
    ctx.fail_graph();
  }
};

/// Takes everything.
struct patient {
  using ports = breaker::ports;
  static constexpr auto where = streams::works::on_host;
  void process(streams::stage_context<patient>&, streams::tick const&) {}
};

RONDO_STAGES(stages, counter, adder, checker, taker, joiner, breaker, patient)

}  // namespace endings_test

RONDO_EMULATED_MODULE(endings_test::stages)

using namespace endings_test;

TEST_CASE("a stage that needs no more ends its graph, wherever it is, and holds nobody up", "[streams]") {
  auto const* const device = GENERATE("cpu", "emulated");
  auto const rate = GENERATE(0, 2000);
  runtime rt{use<endings_test::stages>, {.device = device, .lanes = 2}};
  streams::graph g{rt, {.rate = static_cast<double>(rate)}};
  auto const from = g.add<counter>("from");
  auto const few = g.add<taker>("few", {.most = 10});
  auto const to = g.add<checker>("to");
  auto const other = g.add<checker>("other");
  g.connect(from.out<"numbers">(), few.in<"numbers">());
  g.connect(few.out<"numbers">(), to.in<"numbers">());
  g.connect(from.out<"numbers">(), other.in<"numbers">());
  g.start();
  REQUIRE(!g.wait(60s));
  if (rate == 0) CHECK(g.counts(few).processed == 10);  // else it may skip ticks
  CHECK(g.counts(to).processed == g.counts(few).processed);
  CHECK(g.counts(other).processed == g.counts(from).processed);
  CHECK(g.counts(few).ended == 1);
}

TEST_CASE("a graph ends when all its sinks have ended, although a source could go on", "[streams]") {
  auto const* const device = GENERATE("cpu", "emulated");
  runtime rt{use<endings_test::stages>, {.device = device}};
  streams::graph g{rt};
  auto const some = g.add<counter>("some", {.ends_after = 20});
  auto const forever = g.add<counter>("forever");
  auto const both = g.add<joiner>("both");
  g.connect(some.out<"numbers">(), both.in<"left">());
  g.connect(forever.out<"numbers">(), both.in<"right">());
  g.start();
  REQUIRE(!g.wait(60s));
  CHECK(g.counts(both).processed == 20);
  CHECK(g.counts(forever).processed >= 20);
}

TEST_CASE("a stage that was replaced says with the new one's text why it cannot go on", "[streams][living]") {
  bool closed = false, closed_too = false;
  runtime rt{use<endings_test::stages>, {.device = "cpu"}};
  streams::graph g{rt, {.ticks = 100, .paused = true}};
  auto const from = g.add<counter>("from");
  breaker::options const breaks{.breaks_at = 40, .closed = &closed_too};
  bool const other_type = GENERATE(false, true);
  if (other_type) {
    auto const to = g.add<patient>("to");
    g.connect(from.out<"numbers">(), to.in<"numbers">());
    g.start();
    g.upgrade<breaker>(to, breaks);
  } else {
    auto const to = g.add<breaker>("to", {.closed = &closed});
    g.connect(from.out<"numbers">(), to.in<"numbers">());
    g.start();
    g.replace(to, breaks);
    CHECK(closed);
  }
  REQUIRE(g.resume());
  CHECK(g.wait(60s) == errc::handler_failed);
  CHECK(g.why_failed() == "'graph/to' cannot go on: the device is on fire");
  CHECK(closed_too);
}

TEST_CASE("a stage that cannot go on fails its graph, with its text, and what it had open is closed",
          "[streams]") {
  bool closed = false;
  runtime rt{use<endings_test::stages>, {.device = "cpu"}};
  streams::graph g{rt, {.ticks = 1000}};
  auto const from = g.add<counter>("from");
  breaker::options options{.closed = &closed};
  std::string text;
  SECTION("while it works") {
    options.breaks_at = 40;
    text = "the device is on fire";
  }
  SECTION("at its end") {
    options.breaks_on_stop = true;
    text = "the last page is torn";
  }
  auto const to = g.add<breaker>("to", options);
  auto const other = g.add<checker>("other");
  g.connect(from.out<"numbers">(), to.in<"numbers">());
  g.connect(from.out<"numbers">(), other.in<"numbers">());
  g.start();
  CHECK(g.wait(60s) == errc::handler_failed);
  CHECK(g.why_failed() == "'graph/to' cannot go on: " + text);
  CHECK(g.failed_by() == streams::fault::unavailable);
  CHECK(g.counts(to).gave_up == 1);
  CHECK(g.counts(other).processed == g.counts(from).processed);  // the others lose nothing
  CHECK(closed);
}
