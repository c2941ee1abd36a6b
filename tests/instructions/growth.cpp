// What operations of the library cost where there are many of what they are about: each case runs with few and with
// many. growth.py counts its instructions for one of them with callgrind, and fails where they grow.
//
// Clocks decide nothing here: all that is counted happens, in whatever order. So a case ends only when all that it has
// begun has happened, on other threads too.
#include <valgrind/callgrind.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <latch>
#include <random>
#include <string>

#include "kernels/actor/launch.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/messaging/completions.hpp"
#include "runtime/observe/chrome_trace.hpp"
#include "runtime/sharing/buffer_exporter.hpp"
#include "runtime/sharing/buffer_importer.hpp"
#include "runtime/streams/graph.hpp"
#include "runtime/streams/places/negotiation.hpp"
#include "tests/scratch_directory.hpp"
#include "tests/streams/stages.hpp"

using namespace rondo;
using namespace std::chrono_literals;

namespace growth {

struct note {
  std::uint32_t number;
};
struct quiet {
  using messages = rondo::messages<note>;
  void on(context&, note const&) {}
};
/// Watches each actor of which it hears, and counts their ends.
struct watched {
  actor_id who;
};
struct get {};
struct count {
  std::uint64_t ends;
};
inline std::latch* all_ended = nullptr;
struct watcher {
  using messages = rondo::messages<watched, rondo::ended, rondo::ask<get, count>>;
  std::uint64_t ends = 0;
  void on(context& ctx, watched const& m) { ctx.watch(m.who); }
  void on(context&, rondo::ended const&) { ++ends, all_ended->count_down(); }
  count on(context&, get const&) { return {ends}; }
};
/// Sets and cancels as many timers as it is told. The last one is due at once: when it comes, the host has handled all
/// requests before it, which are in order.
inline std::latch* all_cancelled = nullptr;
struct due {};
struct waker {
  using messages = rondo::messages<note, due>;
  void on(context& ctx, note const& m) {
    for (std::uint32_t key = 0; key < m.number; ++key)
      ctx.set_timer(key, 3'600'000'000, ctx.self_as<waker>(), m);
    for (std::uint32_t key = m.number; key-- > 0;) ctx.cancel_timer(key);
    ctx.set_timer(0, 1, ctx.self_as<waker>(), due{});
  }
  void on(context&, due const&) { all_cancelled->count_down(); }
};

/// A source of a graph's clock.
struct ticked {
  using messages = rondo::messages<streams::tick_due, streams::stop_source>;
  void on(context&, streams::tick_due const&) {}
  void on(context&, streams::stop_source const&) {}
};

RONDO_MODULE(world, quiet, watcher, waker, ticked, streams::clock)

}  // namespace growth

using namespace growth;

namespace {

[[noreturn]] void fail(char const* what) {
  std::fprintf(stderr, "rondo_growth: %s\n", what);
  std::exit(1);
}
void require(bool holds, char const* what) {
  if (!holds) fail(what);
}

std::uint32_t n = 0;  // of this run

/// Counts what `of_all` costs, which is about n of something.
template <class F>
void count_instructions(char const* name, F const& of_all) {
  CALLGRIND_ZERO_STATS;
  CALLGRIND_START_INSTRUMENTATION;
  of_all();
  CALLGRIND_STOP_INSTRUMENTATION;
  static std::deque<std::string> names;  // valgrind reads them when it has time
  CALLGRIND_DUMP_STATS_AT(names.emplace_back(std::string(name) + "_" + std::to_string(n)).c_str());
}

config settings() {
  return {.device = "cpu", .teams = 1, .actors = n + 100, .mail_blocks = 200, .asks = n + 1000, .spin_us = 0};
}

/// Calls `start(i, handler)` n times at once, and waits for all handlers.
template <class Start>
void all_at_once(Start const& start) {
  std::latch left(n);
  for (std::uint32_t i = 0; i < n; ++i) start(i, [&](auto const&...) { left.count_down(); });
  left.wait();
}

void operations() {
  runtime rt{use<world>, settings()};
  auto const all = rt.launch_many<quiet>(n, {.capacity = 4});
  count_instructions("deactivate",
                     [&] { all_at_once([&](auto i, auto done) { deactivate(all[i], done); }); });
  count_instructions("inspect", [&] { all_at_once([&](auto i, auto done) { inspect(all[i], done); }); });
  count_instructions("inspect_one", [&] { all_at_once([&](auto, auto done) { inspect(all[0], done); }); });
  count_instructions("change_one", [&] {
    all_at_once([&](auto i, auto done) { i % 2 == 0 ? activate(all[0], done) : deactivate(all[0], done); });
  });
  count_instructions("list", [&] {
    std::uint32_t listed = 0;
    for (auto page = rt.list(0, 100); !page.empty(); page = rt.list(page.back().id.index + 1, 100))
      listed += static_cast<std::uint32_t>(page.size());
    require(listed == n, "not all actors are listed");
  });
  count_instructions("terminate", [&] {
    all_at_once([&](auto i, auto done) { terminate(all[i], termination::discard, done); });
  });
}

void names() {
  runtime rt{use<world>, settings()};
  count_instructions("launch_named", [&] {
    for (std::uint32_t i = 0; i < n; ++i) static_cast<void>(rt.launch<quiet>("actor " + std::to_string(i)));
  });
  count_instructions("find", [&] {
    for (std::uint32_t i = 0; i < n; ++i)
      require(rt.find<quiet>("actor " + std::to_string(i)).has_value(), "an actor is not found");
  });
}

/// Tells and asks that wait for room in one mailbox; then half of them are cancelled, the last one first.
void waiting() {
  runtime rt{use<world>, settings()};
  auto const full = rt.launch<quiet>("full", {.capacity = 1, .active = false});
  require(!full.try_tell(note{}), "there is no room for one message");
  std::vector<boost::asio::cancellation_signal> signals(n);
  std::latch cancelled(n / 2);
  auto const rest = boost::asio::detached;
  count_instructions("wait_for_room", [&] {
    for (std::uint32_t i = 0; i < n; ++i)
      if (i % 2 == 0)
        full.tell(note{i}, {.deadline = 1h, .wait_for_room = true}, rest);
      else
        full.tell(note{i}, {.wait_for_room = true},
                  boost::asio::bind_cancellation_slot(signals[i].slot(),
                                                      [&](error_code) { cancelled.count_down(); }));
  });
  count_instructions("try_tell_beside", [&] {
    for (std::uint32_t i = 0; i < n; ++i)
      require(full.try_tell(note{i}, {.priority = 7}) == errc::mailbox_full, "room");
  });
  count_instructions("cancel_tell", [&] {
    for (auto s = signals.rbegin(); s != signals.rend(); ++s) s->emit(boost::asio::cancellation_type::all);
    cancelled.wait();
  });
}

/// Asks whose deadlines pass one after the other.
void deadlines() {
  boost::asio::io_context context;
  completions asks{n, context.get_executor()};
  std::uint32_t ended = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    answer_handler handler([&](answer const&) { ++ended; });
    require(asks.open(handler, 1000 + i).has_value(), "there is no slot for an ask");
  }
  count_instructions("expire", [&] {
    for (std::uint32_t i = 0; i < n; ++i) asks.expire(1000 + i);
  });
  context.run();
  require(ended == n, "not all asks have ended");
}

void requests() {
  runtime rt{use<world>, settings()};
  auto const all = rt.launch_many<quiet>(n, {.capacity = 4});
  auto const sees = rt.launch<watcher>("sees", {.capacity = 2 * n});
  std::latch ended(n);
  all_ended = &ended;
  count_instructions("watch", [&] {
    for (auto const& a : all) static_cast<void>(sees.try_tell(watched{a.id()}));
    for (auto const& a : all) terminate(a, termination::discard, boost::asio::detached);
    ended.wait();
  });
  std::latch again(n);
  all_ended = &again;
  count_instructions("watch_ended", [&] {
    for (auto const& a : all) static_cast<void>(sees.try_tell(watched{a.id()}));
    again.wait();
  });
  auto const wakes = rt.launch<waker>("wakes");
  std::latch cancelled(1);
  all_cancelled = &cancelled;
  count_instructions("timers", [&] {
    static_cast<void>(wakes.try_tell(note{n}));
    cancelled.wait();
  });
  std::vector<timer> repeated;
  count_instructions("every", [&] {
    auto const to = rt.launch<quiet>("to");
    for (std::uint32_t i = 0; i < n; ++i) repeated.push_back(rt.every(1h, to, note{}));
    repeated.clear();
  });
  std::vector<subscription> heard;
  count_instructions("subscribe", [&] {
    for (std::uint32_t i = 0; i < n; ++i) heard.push_back(rt.on_dead_letter([](dead_letter const&) {}));
    heard.clear();
  });
}

/// All calls overlap.
void traces() {
  std::vector<trace_hop> hops(n);
  for (std::uint32_t i = 0; i < n; ++i)
    hops[i] = {.trace = 1, .hop = i + 1, .on_host = true, .begun_ns = 1000 + i, .ended_ns = 10'000'000 - i};
  count_instructions("chrome_trace", [&] { static_cast<void>(chrome_trace(hops, {"cpu"})); });
}

/// A chain, and a fan of readers at its begin.
void add_stages(streams::graph& g, std::uint32_t stages) {
  auto const from = g.add<stream_test::counter>("from");
  auto out = from.out<"numbers">();
  for (std::uint32_t i = 0; i + 1 < stages; ++i)
    if (i % 2 == 0) {
      auto const next = g.add<stream_test::adder>("adder " + std::to_string(i), {.by = 1});
      g.connect(out, next.in<"numbers">(), {.capacity = 1});
      out = next.out<"numbers">();
    } else {
      auto const reader = g.add<stream_test::checker>("checker " + std::to_string(i));
      g.connect(from.out<"numbers">(), reader.in<"numbers">(), {.capacity = 1});
    }
}

void graphs() {
  runtime rt{use<stream_test::test_stages>,
             {.device = "cpu",
              .teams = 1,
              .actors = n + 100,
              .asks = 4 * n + 100,
              .buffer_bytes_cap = 1ull << 32,
              .spin_us = 0}};
  auto const quietly = rt.on_log([](log_line const&) {});
  streams::graph_options const once{.ticks = 1, .warn = [](std::string const&) {}};
  streams::graph planned{rt, once};
  count_instructions("build_graph", [&] { add_stages(planned, n); });
  count_instructions("explain_graph", [&] { static_cast<void>(planned.explain() + planned.svg()); });
  // A quarter of the stages, for CI's time.
  streams::graph g{rt, once};
  add_stages(g, n / 4);
  count_instructions("run_graph", [&] {
    g.start();
    require(!g.wait(1h), "the graph has failed");
  });
}

/// Sinks tell the clock of their graph what they have done.
void clocks() {
  runtime rt{use<world>, settings()};
  auto const source = rt.launch<ticked>("source");
  auto from = source.id();
  std::vector<std::uint64_t> done(n);
  streams::clock_memory memory;
  memory.sources = &from;
  memory.done = done.data();
  memory.source_count = memory.ticked_count = 1;
  memory.sink_count = n;
  auto const clock = rt.launch<streams::clock>("clock", {.capacity = 2 * n + 10}, {&memory});
  static_cast<void>(clock.try_tell(streams::start_clock{}));
  count_instructions("tick_done", [&] {
    for (std::uint64_t tick = 0; tick < 2; ++tick)
      for (std::uint32_t i = 0; i < n; ++i)
        require(!clock.try_tell(streams::tick_done{tick, i}), "the clock has no room");
    auto const made = clock.ask(streams::pause_clock{true}, 1h, block);
    require(made && made->count == memory.window + 2, "the clock has made other ticks");
  });
}

/// Buffers are withdrawn while an importer leases them.
void exports() {
  rondo_test::scratch_directory const folder("growth");
  memfd_resource memory(1ull << 30);
  buffer_pool pool({.slots = n, .upstream = &memory});
  buffer_exporter exporter(memory, {.path = folder.directory / "buffers", .slots = n});
  buffer_importer importer(folder.directory / "buffers");
  std::vector<shared_buffer_ref> exported;
  std::vector<shared_lease> leases;
  for (std::uint32_t i = 0; i < n; ++i) {
    auto const one = pool.acquire_buffer(64).value();
    exported.push_back(exporter.export_buffer(pool, one.ref()).value());
    leases.push_back(importer.lease(exported.back()).value());
  }
  count_instructions("withdraw", [&] {
    for (auto const& one : exported) require(exporter.withdraw(one) == errc::ok, "an export is gone");
  });
  require(exporter.statistics().closing == n, "a leased buffer is not kept");
}

/// A chain of stages on two devices.
void places() {
  std::mt19937 random(1);
  std::vector<streams::negotiating_stage> stages(n);
  std::vector<streams::negotiating_output> outputs;
  for (std::uint32_t s = 0; s < n; ++s) {
    for (std::uint32_t p = 0; p < 2; ++p) stages[s].places.push_back({p, random() % 1000});
    if (s != 0) outputs.push_back({.from = s - 1, .to = {s}, .ns = {0, 300, 400, 0}});
  }
  count_instructions("negotiate", [&] { static_cast<void>(streams::negotiate(stages, outputs, 2)); });
}

}  // namespace

int main(int argc, char** argv) {
  if (RUNNING_ON_VALGRIND == 0) fail("run me under valgrind: growth.py does");
  if (argc != 2) fail("expected the number of actors, messages and so on");
  n = static_cast<std::uint32_t>(std::atoi(argv[1]));
  operations();
  names();
  waiting();
  deadlines();
  requests();
  traces();
  graphs();
  clocks();
  exports();
  places();
}
