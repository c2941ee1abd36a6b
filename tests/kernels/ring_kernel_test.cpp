// The turns of the ring kernel: messages, deadlines, failures and lanes.
#include "tests/kernels/ring_kernel_fixture.hpp"

using namespace rondo_test;
using namespace rondo_test::by_hand;

TEST_CASE("one team handles messages sent before it started, and answers", "[ring_kernel]") {
  machine m{1};
  auto const id = m.launch<counter>(0);
  for (std::uint32_t n = 0; n < 5; ++n) REQUIRE(m.tell(id, add{0, n}) == errc::ok);
  REQUIRE(m.ask_for(id, get{}, 77) == errc::ok);
  ring_kernel<behaviours> kernel{m.arena.ref(), team{0}, m.host(), {.park = false}};
  CHECK(kernel.run({.messages = 6}) == 6);  // a bounded round
  CHECK(m.answer<sums>(77).count == 5);
  CHECK(m.totals(id).handled == 6);
}

TEST_CASE("messages of many senders are handled once each and in order", "[ring_kernel][stress][G1][G2]") {
  many_senders<counter>(false);
  many_senders<batcher>(false);
}

TEST_CASE("a message of an unknown type is a dead letter, and an ask is rejected", "[ring_kernel][G1]") {
  machine m{1};
  auto const id = m.launch<counter>(0);
  m.start();
  REQUIRE(m.tell(id, unheard{}) == errc::ok);
  REQUIRE(m.wait_for(event_kind::dead_letter, 1));
  CHECK(m.events(event_kind::dead_letter)[0].reason == errc::unknown_message);
  REQUIRE(m.ask_for(id, unheard{}, 5) == errc::ok);
  REQUIRE(m.wait_for(event_kind::reply, 1));
  CHECK(m.events(event_kind::reply)[0].reason == errc::unknown_message);
  REQUIRE(m.at_rest(id));
  CHECK(m.totals(id).dead == 1);
  CHECK(m.totals(id).rejected == 1);
}

TEST_CASE("a message whose deadline has passed is not handled", "[ring_kernel][G12]") {
  machine m{1};
  auto const id = m.launch<counter>(0);
  message_header late;
  late.set_deadline(1);
  late.stamp(now_ns() - 1'000'000);
  REQUIRE(m.ask_for(id, get{}, 1, late) == errc::ok);
  message_header early;
  early.set_deadline(message_header::longest_deadline_us);
  early.stamp(now_ns());
  REQUIRE(m.ask_for(id, get{}, 2, early) == errc::ok);
  m.start();
  REQUIRE(m.wait_for(event_kind::reply, 2));
  CHECK(m.events(event_kind::reply)[0].reason == errc::timed_out);
  CHECK(m.events(event_kind::reply)[1].reason == errc::ok);
}

TEST_CASE("a deactivated actor keeps its mail until it is activated", "[ring_kernel][G8]") {
  machine m{2};
  auto const id = m.launch<counter>(0);
  m.start();
  scheduler sched{m.arena.ref()};
  for (std::uint32_t round = 0; round < 50; ++round) {
    REQUIRE(sched.signal(id, control_deactivate));
    REQUIRE(m.wait_for(event_kind::state_changed, 2 * round + 1));
    REQUIRE(m.ask_for(id, get{}, round) == errc::ok);
    CHECK(m.count(event_kind::reply) == round);
    REQUIRE(sched.signal(id, control_activate));
    REQUIRE(m.wait_for(event_kind::reply, round + 1));
  }
  CHECK(m.at_rest(id));
}

// Regression: if both arrived in one turn, activate won regardless of the order.
TEST_CASE("of activate and deactivate in one turn the last one decides, and both are reported",
          "[ring_kernel][G8]") {
  for (bool const sleeps : {false, true}) {
    machine m{1};
    auto const id = m.launch<counter>(0);
    scheduler sched{m.arena.ref()};
    REQUIRE(sched.signal(id, sleeps ? control_activate : control_deactivate));
    REQUIRE(sched.signal(id, sleeps ? control_deactivate : control_activate));
    m.start();
    REQUIRE(m.wait_for(event_kind::state_changed, 2));
    auto const last = m.events(event_kind::state_changed)[1].detail;
    CHECK(last == static_cast<std::uint64_t>(sleeps ? lifecycle::deactivated : lifecycle::active));
    CHECK(actor_word{m.arena.ref().cell(id.index).word.load(memory_order::acquire)}.has(actor_word::paused) ==
          sleeps);
  }
}

TEST_CASE("draining handles waiting mail, discarding does not; both account for it",
          "[ring_kernel][G1][G8]") {
  for (auto const how : {control_drain, control_discard}) {
    machine m{1};
    auto const id = m.launch<counter>(0);
    for (std::uint32_t n = 0; n < 10; ++n) REQUIRE(m.tell(id, add{0, n}) == errc::ok);
    scheduler sched{m.arena.ref()};
    REQUIRE(sched.signal(id, how));
    m.start();
    REQUIRE(m.wait_for(event_kind::terminated, 1));
    actor_totals t{};
    std::memcpy(&t, m.events(event_kind::terminated)[0].body.payload, sizeof t);
    CHECK(t.accepted == 10);
    CHECK(t.handled == (how == control_drain ? 10 : 0));
    CHECK(t.dead == (how == control_drain ? 0 : 10));
    CHECK(m.tell(id, add{0, 10}) == errc::actor_gone);
    CHECK_FALSE(sched.signal(id, control_inspect));
  }
}

TEST_CASE("a message that keeps failing its actor is quarantined", "[ring_kernel][G9]") {
  machine m{1};
  fragile::attempts = 0;
  auto spec = m.spec_of<fragile>(0);
  spec.supervise.poison_after = 3;
  auto const id = m.launch(spec);
  REQUIRE(m.tell(id, broken{100}) == errc::ok);
  m.start();
  REQUIRE(m.wait_for(event_kind::dead_letter, 1));
  CHECK(m.events(event_kind::dead_letter)[0].reason == errc::quarantined);
  CHECK(fragile::attempts == 3);
  CHECK(m.at_rest(id));
  CHECK(m.totals(id).failures == 3);
}

// Regression: once the window was kept in milliseconds, restarts within the same one counted.
TEST_CASE("restarts within 0 ms have no limit", "[ring_kernel][G9]") {
  machine m{1};
  fragile::attempts = 0;
  auto spec = m.spec_of<fragile>(0);
  spec.supervise = {.poison_after = max_attempts, .max_restarts = 1, .within_ms = 0};
  auto const id = m.launch(spec);
  REQUIRE(m.tell(id, broken{100}) == errc::ok);
  m.start();
  REQUIRE(m.wait_for(event_kind::dead_letter, 1));
  CHECK(m.events(event_kind::dead_letter)[0].reason == errc::quarantined);
  CHECK(fragile::attempts == max_attempts);
  CHECK(m.at_rest(id));
}

// Regression: attempts were counted per actor, so one message was quarantined for the failures of another.
TEST_CASE("each message has its own attempts", "[ring_kernel][G9]") {
  machine m{1};
  fragile::attempts = 0;
  auto spec = m.spec_of<fragile>(0);
  spec.supervise.poison_after = 2;
  auto const id = m.launch(spec);
  REQUIRE(m.tell(id, broken{100}) == errc::ok);
  bool sent = false;
  m.on_event = [&](device_event const& r) {  // after the first failure, before the next attempt
    if (r.kind != event_kind::actor_failed || std::exchange(sent, true)) return;
    message_header urgent;
    urgent.priority = 255;
    CHECK(m.tell(id, broken{101}, urgent) == errc::ok);
  };
  m.start();
  REQUIRE(m.wait_for(event_kind::dead_letter, 2));
  auto const dead = m.events(event_kind::dead_letter);
  for (std::size_t i = 0; i < 2; ++i) {
    broken body{};
    std::memcpy(&body, dead[i].body.payload, sizeof body);
    CHECK(body.times == (i == 0 ? 101u : 100u));
    CHECK(dead[i].reason == errc::quarantined);
  }
  CHECK(fragile::attempts == 4);
  CHECK(m.at_rest(id));
}

TEST_CASE("an actor that may not restart ends with its mail accounted for", "[ring_kernel][G1][G9]") {
  machine m{1};
  fragile::attempts = 0;
  auto spec = m.spec_of<fragile>(0);
  spec.supervise.rule = on_failure::stop;
  auto const id = m.launch(spec);
  for (int i = 0; i < 4; ++i) REQUIRE(m.tell(id, broken{1}) == errc::ok);
  m.start();
  REQUIRE(m.wait_for(event_kind::terminated, 1));
  CHECK(m.count(event_kind::dead_letter) == 4);
  CHECK(m.totals(id).dead == 4);
}

TEST_CASE("lanes of a team run a handler together", "[ring_kernel][G6]") {
  machine m{1};
  auto const id = m.launch<crowd>(0);
  team_shared shared{};
  std::vector<std::thread> lanes;
  for (std::uint32_t l = 0; l < 3; ++l)
    lanes.emplace_back([&, l] {
      ring_kernel<behaviours>{m.arena.ref(), team{0, l, 3, shared}, m.host(), {.spin_ns = 1'000}}.run({});
    });
  for (std::uint32_t i = 1; i <= 20; ++i) {
    REQUIRE(m.ask_for(id, get{}, i) == errc::ok);
    CHECK(m.answer<sums>(i).count == 4950);
  }
  m.stop();
  for (auto& l : lanes) l.join();
  CHECK(m.count(event_kind::reply) == 20);
}
