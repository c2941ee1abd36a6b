// What routers are made of: messages that are forwarded, and messages that are rejected.
#include <algorithm>

#include "runtime/messaging/trace_log.hpp"
#include "runtime/recording.hpp"
#include "runtime/replay.hpp"
#include "tests/conformance/crew.hpp"
#include "tests/scratch_directory.hpp"

using namespace conformance;

TEST_CASE("a forwarded message keeps its priority, its deadline, and its asker", "[G3][G12]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  overheard w(v);
  crew<in_turn> const c(*w.rt, 1, {.pinned = pinned}, pinned);
  auto const answer = c.router.ask(whose{1}, {.timeout = 1h, .priority = 200}, rondo::block).value();
  CHECK(answer.worker == c.workers[0].id());
  CHECK(answer.priority == 200);
  CHECK(std::chrono::nanoseconds(answer.left_ns) <= 1h);
  CHECK(std::chrono::nanoseconds(answer.left_ns) > 30min);

  auto const asker = w.rt->launch<inquirer>("inquirer");
  auto const heard = ask(asker, inquire{c.router.id(), 1}).value();
  CHECK(heard.worker == c.workers[0].id());
  CHECK(heard.priority == 30);
  CHECK(heard.left_ns == ~0ull);

  REQUIRE_FALSE(deactivate(c.workers[0]));
  REQUIRE_FALSE(tell(c.router, job{1, 1}, {.deadline = 20ms}));
  REQUIRE_FALSE(tell(c.router, job{1, 2}, {.priority = 10, .deadline = 1h}));
  REQUIRE_FALSE(tell(c.router, job{2, 1}));
  CHECK(c.router.ask(whose{1}, 30ms, rondo::block).error() ==
        errc::timed_out);  // by now the first one is late
  REQUIRE_FALSE(activate(c.workers[0]));
  at_rest(*w.rt);
  REQUIRE(w.letters.wait_for(1));
  CHECK(w.letters.count() == 1);
  CHECK(w.letters.all().front().reason == errc::timed_out);  // of the worker; of the router if that is slow
  CHECK(c.done_by(0).jobs == 2);
}

TEST_CASE("a forwarded message is a hop of its trace", "[G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  crew<in_turn> const c(*rt, 1);
  auto const trace = rt->traces().new_trace();
  REQUIRE(c.router.ask(whose{1}, rondo::ask_options{.timeout = patience, .trace = trace}, rondo::block));
  REQUIRE(eventually([&] { return rt->traces().read(trace).size() == 3; }));
  auto hops = rt->traces().read(trace);
  auto const at = [&](rondo::actor_id actor) {
    return *std::find_if(hops.begin(), hops.end(),
                         [&](auto const& h) { return h.actor == actor && !h.on_host; });
  };
  auto const first = at(c.router.id()), second = at(c.workers[0].id());
  CHECK(second.parent == first.hop);
  CHECK(second.sent_ns >= first.begun_ns);
}

TEST_CASE("any handler may reject its messages, and its actor does not fail", "[G1][G6]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  overheard w(v);
  auto const actor = w.rt->launch<picky>("picky", {.pinned = pinned, .active = false});
  for (std::uint32_t const rejected : {0u, 1u}) {
    sort_of const batch[] = {{rejected}, {rejected}, {rejected}};
    REQUIRE_FALSE(outcome_of(
        [&](auto handler) { actor.tell(std::span<sort_of const>(batch), {}, std::move(handler)); }));
    REQUIRE_FALSE(tell(actor, tile_of{rejected}));
  }
  REQUIRE_FALSE(activate(actor));
  auto const t = at_rest(*w.rt);
  REQUIRE(w.letters.wait_for(4));
  for (auto const& letter : w.letters.all()) CHECK(letter.reason == errc::wrong_size);
  auto const& n = report_of(t, actor.id()).now.totals;
  CHECK(n.handled == 4);
  CHECK(n.dead == 4);
  CHECK(n.failures == 0);
  CHECK(ask(actor, read_work{}).value().jobs == 3);  // two batches and a wide message: its state is kept
}

TEST_CASE("of batches some of whose messages are rejected, each message comes once and in its turn",
          "[G1][G2][G6]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true), in_batches = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : "") << (in_batches ? ", in batches" : ""));
  overheard w(v);
  auto const send_to = [&](auto const& actor) {
    std::uint32_t sent = 0;
    for (std::uint32_t const size : {1u, 40u, 1u, 1u, 3u, 16u, 2u, 1u, 33u, 15u, 64u, 17u, 1u, 5u, 40u, 1u}) {
      std::vector<choice> batch;
      for (std::uint32_t i = 0; i < size; ++i, ++sent) batch.push_back({sent, sent % 13 == 7});
      while (size == 1 ? actor.try_tell(batch[0]) : actor.try_tell(std::span<choice const>(batch)))
        std::this_thread::yield();
    }
    auto answer = ask(actor, read_choices{});  // behind all of them
    while (!answer && answer.error() == errc::mailbox_full) answer = ask(actor, read_choices{});
    auto const seen = answer.value();
    CHECK(seen.disorder == 0);
    rondo::actor_totals n;  // a pinned team shows them once it has nothing to do
    CHECK(eventually([&] {
      n = report_of(w.rt->snapshot(), actor.id()).now.totals;
      return n.handled + n.dead == sent + 1;
    }));
    CHECK(n.handled == seen.handled + 1);
    CHECK(n.failures == 0);
    if (!in_batches) CHECK(n.dead == (sent + 5) / 13);
    REQUIRE(w.letters.wait_for(static_cast<std::size_t>(n.dead)));
    for (auto const& letter : w.letters.all()) CHECK(letter.reason == errc::wrong_size);
  };
  if (in_batches)
    send_to(w.rt->launch<choosy_of_batches>("choosy", {.capacity = 64, .pinned = pinned}));
  else
    send_to(w.rt->launch<choosy>("choosy", {.capacity = 64, .pinned = pinned}));
}

TEST_CASE("a request is forwarded once, and only to who gives the declared answer", "[G6][G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const w = rt->launch<worker>("worker");
  auto const actor = rt->launch<picky>("picky", {.supervise = {.poison_after = 1}});
  CHECK(ask(actor, pass_on{w.id(), 1}).value().worker == w.id());
  CHECK(ask(actor, pass_on{w.id(), 0}).error() == errc::wrong_reply);
  auto const t = at_rest(*rt);
  CHECK(t.late_answers == 0);
  CHECK(report_of(t, w.id()).now.totals.handled == 1);
}

TEST_CASE("forwarded and rejected messages are replayed as they were recorded", "[G6][G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  rondo_test::scratch_directory const dir("forward");
  auto const file = dir.directory / "run.recording";
  {
    auto const rt = start(v.settings);
    rondo::recording tape(*rt, file);
    crew<in_turn> const c(*rt, 3);
    auto const choosy = rt->launch<picky>("picky");
    tell_jobs(c.router, 6);
    REQUIRE_FALSE(tell(choosy, sort_of{1}));
    REQUIRE_FALSE(tell(choosy, tile_of{1}));
    REQUIRE(ask(c.router, whose{0}));
    CHECK(ask(choosy, read_work{}).value().jobs == 1);
    CHECK(c.jobs_done() == counts{2, 2, 2});
    at_rest(*rt);
    tape.end();
  }
  auto const rt = start(v.settings);
  auto const report = rondo::replay(*rt, file);
  CHECK(report.differences == std::vector<std::string>{});
  CHECK(report.complete);
  CHECK(ask(rt->find<picky>("picky").value(), read_work{}).value().jobs == 1);
  for (std::uint32_t i = 0; i < 3; ++i)
    CHECK(ask(rt->find<worker>("worker " + std::to_string(i)).value(), read_work{}).value().jobs == 2);
  CHECK(at_rest(*rt).conserved());
}
