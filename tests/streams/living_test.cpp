// Graphs whose stages fail, are replaced, or are paused while they run: what each delivery promises holds.
#include "runtime/core/runtime_core.hpp"
#include "runtime/device/emulated/emulated_device.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/streams/built/transfer_link.hpp"
#include "runtime/upgrade.hpp"
#include "tests/streams/bed.hpp"
#include "tests/streams/check_edge.hpp"

using namespace stream_test;
using rondo_test::eventually;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace stream_test {
/// A later module with the same stages, and without others.
RONDO_STAGES(later_stages, checker, adder, counter)
}  // namespace stream_test
RONDO_EMULATED_MODULE(stream_test::later_stages)

namespace {

/// A device, and threads for each of its teams.
struct machine {
  std::string device;
  std::uint32_t lanes;
};
std::vector<machine> machines() { return {{"cpu", 0}, {"emulated", 1}, {"emulated", 4}}; }

enum class trouble { failures, upgrades, modules, pauses };
constexpr std::uint32_t times = 20;

char const* name_of(trouble t) {
  return t == trouble::failures   ? "failures"
         : t == trouble::upgrades ? "upgrades"
         : t == trouble::modules  ? "new modules"
                                  : "pauses";
}
/// Waits until the stage has processed more.
template <class Stage>
void progress(streams::graph const& g, streams::stage_ref<Stage> const& stage) {
  auto const before = g.counts(stage).processed;
  REQUIRE(eventually([&] { return g.counts(stage).processed > before; }));
}

/// Pauses a graph whose edges are lossless, and waits until all frames have arrived: how many.
template <class Source, class Sink>
std::uint64_t settle(streams::graph& g, streams::stage_ref<Source> const& from,
                     streams::stage_ref<Sink> const& to) {
  auto const made = g.pause().value();
  REQUIRE(eventually([&] { return g.counts(to).processed + g.counts(from).skipped == made; }));
  return g.counts(to).processed;
}

/// counter -> plus -> to, with trouble in the middle, and this delivery before it or behind it.
void run_with(trouble what, streams::delivery how, bool before, machine const& on) {
  bed_of<test_stages> b(on.device, on.lanes);
  streams::graph g{b.rt, {.window = 32}};
  auto const slow = [&](bool is_slow) { return is_slow && how != streams::delivery::lossless ? 3'000u : 0u; };
  adder::options const add{
      .by = 1, .fails_every = what == trouble::failures ? 7u : 0u, .spins = slow(before)};
  auto const from = g.add<counter>("from");
  auto const plus = g.add<adder>("plus", add, {.supervise = always_restarted});
  auto const to = g.add<checker>("to", {.added = 1, .spins = slow(!before)});
  connect_row(g, from, plus, to, how, before);
  g.start();

  if (what == trouble::failures) REQUIRE(eventually([&] { return g.counts(plus).failed >= times; }));
  auto wide = streams::stage_ref<wide_adder>{};
  for (std::uint32_t i = 0; i < times && what == trouble::upgrades; ++i) {
    progress(g, plus);
    if (i % 2 == 0)
      wide = g.upgrade<wide_adder>(plus, {.by = 1, .spins = slow(before)});
    else
      static_cast<void>(g.upgrade<adder>(wide, add));
  }
  for (std::uint32_t i = 0; i < times && what == trouble::modules; ++i) {
    progress(g, plus);
    if (i % 2 == 0)
      rondo::upgrade(b.rt, use<later_stages>);
    else
      rondo::upgrade(b.rt, use<test_stages>);
  }
  for (std::uint32_t i = 0; i < times && what == trouble::pauses; ++i) {
    progress(g, plus);
    REQUIRE(g.pause());
    REQUIRE(g.resume());
  }
  progress(g, to);
  REQUIRE(!g.stop(60s));

  auto const found = b.found("graph/to");
  CHECK(found.frames == g.counts(to).processed);
  CHECK(found.wrong == 0);         // each number was added once
  CHECK(found.out_of_order == 0);  // and no frame came twice
  check_edge(before ? how : streams::delivery::lossless, g.counts(from), g.counts(plus));
  check_edge(before ? streams::delivery::lossless : how, g.counts(plus), g.counts(to));
  if (how == streams::delivery::lossless) CHECK(found.missing == 0);
  if (how == streams::delivery::latest) CHECK(g.counts(to).last_number == g.counts(from).last_number);
  CHECK((g.counts(plus).failed != 0) == (what == trouble::failures));
}

}  // namespace

TEST_CASE("each delivery accounts for every frame while a stage fails, is upgraded, or is paused",
          "[streams][living]") {
  auto const on = GENERATE(from_range(machines()));
  auto const how = GENERATE(streams::delivery::lossless, streams::delivery::every, streams::delivery::latest);
  auto const what = GENERATE(trouble::failures, trouble::upgrades, trouble::modules, trouble::pauses);
  bool const before = GENERATE(true, false);
  INFO(on.device << " with " << on.lanes << " lanes, " << name_of(how) << (before ? " before " : " behind ")
                 << "a stage with " << name_of(what));
  run_with(what, how, before, on);
}

TEST_CASE("a reader with `latest` begins with the newest frame, at most one tick old, whatever happens to it",
          "[streams][living]") {
  auto const on = GENERATE(from_range(machines()));
  auto const what = GENERATE(trouble::failures, trouble::upgrades, trouble::pauses);
  INFO(on.device << " with " << on.lanes << " lanes, " << name_of(what));
  bed_of<test_stages> b(on.device, on.lanes);
  board said;
  std::uint32_t const fails_every = what == trouble::failures ? 5 : 0;
  streams::graph g{b.rt};
  streams::stage_options const how{.supervise = always_restarted};
  follower::options const slow{.on = &said, .fails_every = fails_every, .spins = 5'000};
  auto const from = g.add<announcer>("from", {.on = &said, .fails_every = fails_every}, how);
  auto const pace = g.add<checker>("pace");
  auto const newest = g.add<follower>("newest", slow, how);
  g.connect(from.out<"numbers">(), pace.in<"numbers">());
  g.connect(from.out<"numbers">(), newest.in<"numbers">());
  g.start();
  for (std::uint32_t i = 0; i < times; ++i) {
    progress(g, newest);
    if (what == trouble::upgrades) g.replace(newest, slow);
    if (what != trouble::pauses) continue;
    REQUIRE(g.pause());
    REQUIRE(g.resume());
  }
  if (what == trouble::failures) REQUIRE(eventually([&] { return g.counts(newest).failed >= times; }));
  REQUIRE(!g.stop(60s));
  auto const found = b.found("graph/newest");
  CHECK(found.frames == g.counts(newest).processed);  // also over replacements: its memory stays
  CHECK(found.wrong == 0);         // none was older than the newest that had been passed on
  CHECK(found.out_of_order == 0);  // or by more than one tick than the newest complete one
  CHECK(g.counts(newest).last_number == g.counts(from).last_number);
  CHECK(g.counts(from).processed ==
        found.frames + g.counts(from).replaced + g.counts(newest).replaced + g.counts(newest).skipped);
}

TEST_CASE("while a graph is paused no ticks are made, and the frames under way arrive", "[streams][living]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  auto const rate = GENERATE(0.0, 500.0);
  bed_of<test_stages> b(device);
  streams::graph g{b.rt, {.rate = rate, .paused = true}};
  CHECK(g.pause().error() == errc::wrong_state);  // it has not started
  auto const from = g.add<counter>("from");
  auto const plus = g.add<adder>("plus", {.by = 1, .spins = 1000});
  auto const to = g.add<checker>("to", {.added = 1});
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  g.connect(plus.out<"numbers">(), to.in<"numbers">());
  g.start();
  CHECK(g.wait(50ms) == errc::timed_out);
  CHECK(g.counts(from).processed == 0);
  CHECK(g.resume());
  CHECK(g.resume());  // again
  progress(g, to);
  CHECK(g.pause());
  auto const before = settle(g, from, to);  // pauses it again
  CHECK(g.wait(50ms) == errc::timed_out);
  CHECK(g.counts(to).processed == before);
  CHECK(g.pause().value() == before + g.counts(from).skipped);
  CHECK(g.resume());
  progress(g, to);
  CHECK(g.pause());
  CHECK(!g.stop());  // ends it while it is paused
  CHECK(b.found("graph/to").frames == g.counts(from).processed);
  CHECK(b.found("graph/to").missing == g.counts(from).skipped);
  CHECK_FALSE(g.pause());
}

namespace living_test {

/// Takes the ticks of a clock.
struct tick_book {
  struct read_book {};
  struct pages {
    std::uint64_t count, next, out_of_order;
  };
  using messages = rondo::messages<streams::tick_due, streams::stop_source, ask<read_book, pages>>;
  pages seen{};
  RONDO_HD void on(context&, streams::tick_due const& t) {
    if (t.number != seen.next) ++seen.out_of_order;
    seen.next = t.number + 1;
    ++seen.count;
  }
  RONDO_HD void on(context&, streams::stop_source const&) {}
  RONDO_HD pages on(context&, read_book const&) { return seen; }
};
RONDO_MODULE(clock_and_book, streams::clock, tick_book)

}  // namespace living_test
using namespace living_test;

TEST_CASE("at a set rate the beats of a pause make no ticks, then or later", "[streams][living]") {
  runtime rt{use<clock_and_book>, {.device = "cpu"}};
  auto const book = rt.launch<tick_book>("book");
  actor_id source = book.id();
  std::uint64_t done = ~0ull;
  streams::clock_memory memory;
  memory.sources = &source;
  memory.done = &done;
  memory.source_count = memory.ticked_count = memory.sink_count = 1;
  memory.period_ns = 1'000'000;
  auto const clock = rt.launch<streams::clock>("clock", {}, {&memory});
  auto const beats = [&](int count) {
    for (int i = 0; i < count; ++i) REQUIRE(!clock.tell(streams::beat{}, {.wait_for_room = true}, block));
  };
  auto const set_paused = [&](bool paused) {
    return clock.ask(streams::pause_clock{paused}, ask_options{.wait_for_room = true}, block).value().count;
  };
  auto const read = [&] {
    return book.ask(tick_book::read_book{}, ask_options{.wait_for_room = true}, block).value();
  };
  REQUIRE(!clock.tell(streams::start_clock{}, {}, block));
  beats(3);
  CHECK(set_paused(true) == 3);
  beats(50);
  CHECK(set_paused(true) == 3);
  CHECK(set_paused(false) == 3);
  beats(2);
  CHECK(set_paused(true) == 5);
  REQUIRE(eventually([&] { return read().count == 5; }));
  CHECK(read().out_of_order == 0);
}

TEST_CASE("a stage of a running graph gets other options between two frames", "[streams][living]") {
  auto const on = GENERATE(from_range(machines()));
  INFO(on.device << " with " << on.lanes << " lanes");
  bed_of<test_stages> b(on.device, on.lanes);
  streams::graph g{b.rt};
  auto const from = g.add<counter>("from");
  auto const plus = g.add<adder>("plus", {.by = 1}, {.replicas = 2});
  auto const to = g.add<checker>("to", {.added = 1});
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  g.connect(plus.out<"numbers">(), to.in<"numbers">());
  g.start();
  progress(g, to);
  auto const before = settle(g, from, to);
  g.replace(plus, {.by = 2});
  REQUIRE(g.resume());
  progress(g, to);
  REQUIRE(!g.stop());
  auto const found = b.found("graph/to");
  CHECK(found.frames == g.counts(from).processed);
  CHECK(found.wrong == found.frames - before);  // all after it, of both replicas, have 2 added
  CHECK(found.missing == 0);
}

TEST_CASE("a stage's memory stays if its type does, or if the next type takes it over", "[streams][living]") {
  auto const on = GENERATE(from_range(machines()));
  bool const takes_over = GENERATE(true, false);
  INFO(on.device << " with " << on.lanes << " lanes");
  bed_of<test_stages> b(on.device, on.lanes);
  streams::graph g{b.rt};
  auto const from = g.add<counter>("from");
  auto const to = g.add<tally>("to");
  g.connect(from.out<"numbers">(), to.in<"numbers">());
  g.start();
  CHECK_THROWS_WITH(g.replace(to, {.scratch_bytes = 16}),
                    Contains("'to'") && Contains("has 8 bytes") && Contains("needs 16"));
  CHECK_THROWS_WITH(g.upgrade<unlisted_tally>(to), Contains("unlisted_tally: list it"));
  g.replace(to, {.scratch_bytes = 8});
  progress(g, to);
  auto const before = settle(g, from, to);
  if (takes_over)
    g.replace(g.upgrade<next_tally>(to), {.scratch_bytes = 4});
  else
    g.replace(g.upgrade<other_tally>(to, {.scratch_bytes = 16}), {.scratch_bytes = 16});
  REQUIRE(g.resume());
  progress(g, to);
  REQUIRE(!g.stop());
  CHECK(b.found("graph/to").frames == g.counts(to).processed - (takes_over ? 0 : before));
}

TEST_CASE("what a stage has opened on the host is replaced with it", "[streams][living]") {
  bed_of<test_stages> b("cpu,emulated");
  atomic<std::uint64_t> open{0}, last_used{0};
  {
    streams::graph g{b.rt, {.warn = [](std::string const&) {}}};
    auto const from = g.add<counter>("from", {}, {.device = 1});
    auto const to = g.add<desk>("to", {.number = 1, .open = &open, .last_used = &last_used});
    g.connect(from.out<"numbers">(), to.in<"numbers">());
    g.start();
    for (std::uint64_t i = 1; i < times; ++i) {
      auto const used = [&] { return last_used.load(memory_order::relaxed); };
      if (i == 13) continue;
      if (i != 1) g.replace(to, {.number = i, .open = &open, .last_used = &last_used});
      REQUIRE(eventually([&] { return used() == i; }));
      CHECK(open.load(memory_order::relaxed) == 1);
    }
    CHECK_THROWS_WITH(g.replace(to, {.number = 13, .open = &open, .last_used = &last_used}),
                      Contains("'to' cannot open") && Contains("no number 13"));
    progress(g, to);
  }
  CHECK(open.load(memory_order::relaxed) == 0);
}

TEST_CASE("a stage that cannot be replaced stays as it is, and the error says why", "[streams][living]") {
  bed_of<test_stages> b("cpu");
  streams::graph g{b.rt}, other{b.rt, {.name = "other"}};
  auto const from = g.add<counter>("from");
  auto const plus = g.add<adder>("plus", {.by = 1});
  auto const to = g.add<checker>("to", {.added = 1});
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  g.connect(plus.out<"numbers">(), to.in<"numbers">());
  CHECK_THROWS_WITH(g.replace(plus, {.by = 2}), Contains("'plus'") && Contains("not started"));
  g.start();
  CHECK_THROWS_WITH(g.replace(from, {.count = 17}),
                    Contains("'from'") && Contains("'numbers'") && Contains("68 bytes instead of 64"));
  checker::options const of_another{};
  CHECK_THROWS_WITH(g.replace_untyped(1, streams::kind_of<checker>(), &of_another),
                    Contains("'plus'") && Contains("ports differ"));
  CHECK_THROWS_WITH(other.replace(plus, {.by = 2}), Contains("another graph"));
  auto const wide = g.upgrade<wide_adder>(plus, {.by = 1});
  CHECK_THROWS_WITH(g.replace(plus, {.by = 2}), Contains("wide_adder, no longer a"));
  CHECK(g.explain().find("wide_adder") != std::string::npos);
  progress(g, to);
  REQUIRE(!g.stop());
  CHECK_THROWS_WITH(g.replace(wide, {.by = 2}), Contains("has ended"));
  CHECK(b.found("graph/to").wrong == 0);
}

namespace living_test {

/// Its handler lasts until `may_return` and then 100 ms more.
struct late_sink {
  using ports = streams::ports<streams::in<"numbers", numbers>>;
  static constexpr auto where = streams::works::on_host;
  struct watch {
    std::atomic<bool> is_inside{false}, may_return{false}, closed_meanwhile{false}, is_closed{false};
  };
  struct options {
    watch* at;
  };
  struct host {
    explicit host(options const& o) : at(o.at) {}
    ~host() {
      at->closed_meanwhile = at->is_inside.load();
      at->is_closed = true;
    }
    watch* at;
  };
  void process(streams::stage_context<late_sink>& ctx, streams::tick const&) {
    watch& at = *ctx.host().at;
    at.is_inside = true;
    while (!at.may_return) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(100ms);
    at.is_inside = false;
  }
};

RONDO_STAGES(late_stages, counter, adder, late_sink)

}  // namespace living_test
RONDO_EMULATED_MODULE(living_test::late_stages)

TEST_CASE("what a stage has opened outlives its last handler, also when another device was lost",
          "[streams][living]") {
  living_test::late_sink::watch watch;
  bed_of<living_test::late_stages> b("cpu,emulated");
  streams::graph g{b.rt, {.warn = [](std::string const&) {}}};
  auto const from = g.add<counter>("from", {}, {.device = 0});
  auto const plus = g.add<adder>("plus", {.by = 1}, {.device = 1});
  auto const to = g.add<living_test::late_sink>("to", {.at = &watch}, {.device = 0});
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  g.connect(plus.out<"numbers">(), to.in<"numbers">());
  g.start();
  REQUIRE(eventually([&] { return watch.is_inside.load(); }));
  static_cast<emulated_device&>(*b.rt.core().devices()[1].dev).lose();
  std::jthread const later([&] {
    std::this_thread::sleep_for(500ms);
    watch.may_return = true;
  });
  CHECK(g.wait(60s) == errc::device_lost);
  CHECK_FALSE(watch.is_inside);
  CHECK_FALSE(watch.closed_meanwhile);
  CHECK(watch.is_closed);  // a file is finished, for instance
}

TEST_CASE("a device that is lost while frames are copied to it fails the graph, and the transfer is named",
          "[streams][living]") {
  bed_of<test_stages> b("cpu,emulated");
  // So many ticks under way that the transfer to the device always has a frame to copy.
  streams::graph g{b.rt, {.window = 64, .warn = [](std::string const&) {}}};
  auto const from = g.add<counter>("from", {}, {.device = 0});
  auto const plus = g.add<adder>("plus", {.by = 1}, {.device = 1});
  auto const to = g.add<checker>("to", {.added = 1}, {.device = 0});
  g.connect(from.out<"numbers">(), plus.in<"numbers">());
  g.connect(plus.out<"numbers">(), to.in<"numbers">());
  g.start();
  progress(g, to);
  static_cast<emulated_device&>(*b.rt.core().devices()[1].dev).lose();
  CHECK(g.wait(60s) == errc::device_lost);
  // Each part of the graph that used the device says so in its own time.
  CHECK(eventually([&] {
    return g.why_failed().find("the transfer of from.numbers to emulated failed") != std::string::npos;
  }));
  std::byte here[64]{};
  CHECK_FALSE(streams::copy_between(nullptr, here, b.rt.buffers(1).home(), here, sizeof here));
}
