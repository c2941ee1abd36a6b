// The device `emulated` when it stops, is lost, or its handlers fail.
#include "tests/runtime/emulated_fixture.hpp"

using namespace rondo;
using namespace rondo_test;
using namespace std::chrono_literals;

TEST_CASE("emulated: a lost device names what ran and ends all submissions", "[emulated][G9]") {
  gate_open = false;
  at_gate = 0;
  test_device d{{.teams = 2, .pinned_teams = 0}};
  auto const to = d.launch(3, 8);
  REQUIRE(d.tell(to, wait_for_gate{}) == errc::ok);
  REQUIRE(eventually([] { return at_gate == 1; }));
  d->hold_submissions(true);
  std::uint32_t told = 0, asked = 0;
  for (; told < 5; ++told) REQUIRE(d.tell(to, note{0, told}) == errc::ok);
  for (; asked < 5; ++asked) REQUIRE(d.ask(to, get_report{}, asked) == errc::ok);
  d->lose();
  REQUIRE(eventually([&] { return d.count(event_kind::device_lost) == 2; }));
  std::uint32_t named = 0;
  for (auto const& r : d.all(event_kind::device_lost)) {
    CHECK(r.reason == errc::device_lost);
    if (!r.actor.valid()) continue;
    ++named;
    CHECK(r.actor == to);
    CHECK(r.behaviour == listens);
    CHECK(r.body.header.type == type_id<wait_for_gate>);
  }
  CHECK(named == 1);
  CHECK(d.all(event_kind::device_lost).back().detail == 0);
  CHECK(d.tell(to, note{0, 9}) == errc::device_lost);
  CHECK(d->signal(to, control_drain) == errc::device_lost);
  CHECK(d->launch(d.spec(4, 8)) == errc::device_lost);
  // Submissions that the I/O team had taken before it held wait in the arena; all others ended with the device.
  CHECK(d.look(to).index != to.index);  // its memory is gone
  auto const waiting = d.look_into(to).waiting - 1;
  CHECK(eventually([&] {
    return waiting + d.count_of(event_kind::dead_letter, errc::device_lost) +
               d.count_of(event_kind::reply, errc::device_lost) ==
           told + asked;
  }));
  CHECK_FALSE(d->at_safepoint(1s, arena_access::reads,
                              [](arena_ref const&) { FAIL("a lost device has no safepoint"); }));
  gate_open = true;
  CHECK(d->stop(10s).stopped);
}

TEST_CASE("emulated: the device is lost after the planned number of messages", "[emulated][G9]") {
  setup s;
  s.emulation.faults.lose_after_messages = 11;  // including the launch
  test_device d{s};
  auto const to = d.launch(0, 64);
  std::uint32_t refused = 0, sent = 0;
  REQUIRE(eventually([&] {
    auto const outcome = d.tell(to, note{0, sent});
    sent += outcome == errc::ok;
    refused += outcome == errc::device_lost;
    return refused == 3;
  }));
  CHECK(d->stop(10s).stopped);
  CHECK(d.look_into(to).totals.accepted == 10);
  CHECK(d.count(event_kind::dead_letter) == sent - 10);
}

TEST_CASE("emulated: a batch on its way to a pinned actor ends with the device, each message once",
          "[emulated][G1]") {
  setup s;
  s.emulation.faults.lose_after_messages = 8;  // of each ring: within the batch
  test_device d{s};
  auto pinned = d.spec(0, 64);
  pinned.pinned = true;
  REQUIRE(d->launch(pinned) == errc::ok);
  for (std::uint32_t n = 0; n < 5; ++n) {  // one at a time, so that the team expects mail here
    REQUIRE(d.ask(pinned.id, get_report{}, n) == errc::ok);
    d.reply(n);
  }
  std::vector<note> const batch(5);
  message_header h;
  h.type = type_id<note>;
  auto const began = std::chrono::steady_clock::now();
  REQUIRE(d->mail().post({.to = pinned.id,
                          .header = h,
                          .payloads = batch.data(),
                          .bytes = sizeof(note),
                          .stride = sizeof(note),
                          .count = 5}) == errc::ok);
  REQUIRE(eventually([&] { return d->lost(); }));
  CHECK(d->stop(10s).stopped);
  CHECK(std::chrono::steady_clock::now() - began < 5s);
  auto const handled = d.look_into(pinned.id).totals.handled - 5;
  CHECK(handled > 0);
  CHECK(d.count_of(event_kind::dead_letter, errc::device_lost) > 0);
  CHECK(d.count_of(event_kind::dead_letter, errc::device_lost) + handled == 5);
}

TEST_CASE("emulated: stop ends messages in flight, each once", "[emulated][G1][G10]") {
  for (bool const park : {true, false}) {
    test_device d{{.park = park}};
    auto const to = d.launch(0, 64);
    REQUIRE(eventually([&] { return d.look(to).state == lifecycle::active; }));
    d->hold_submissions(true);
    std::uint32_t const each = 20;
    for (std::uint32_t n = 0; n < each; ++n) {
      REQUIRE(d.tell(to, note{0, n}) == errc::ok);
      REQUIRE(d.ask(to, get_report{}, n) == errc::ok);
      REQUIRE(d.tell(to, note{0, n}, test_device::ack(each + n)) == errc::ok);
    }
    CHECK(d->stop(10s).stopped);
    auto const totals = d.look(to).totals;
    auto const handled_or_waiting = totals.accepted;
    auto const acks_ok = d.count_of(event_kind::reply, errc::ok);
    CHECK(d.count_of(event_kind::dead_letter, errc::stopped) <= each);
    CHECK(d.count(event_kind::dead_letter) + d.count_of(event_kind::reply, errc::stopped) +
              handled_or_waiting ==
          3 * each);
    CHECK(acks_ok <= handled_or_waiting);
    CHECK(d.tell(to, note{0, 0}) == errc::stopped);
    CHECK(d->signal(to, control_drain) == errc::stopped);
    CHECK(d->launch(d.spec(5, 8)) == errc::stopped);
    auto pinned = d.spec(6, 8);
    pinned.pinned = true;
    CHECK(d->launch(pinned) == errc::stopped);
    CHECK(d->stop(10s).stopped);
  }
}

TEST_CASE("emulated: stop while senders continue loses nothing", "[emulated][G1][stress]") {
  test_device d{with_delays(test_seed(), 5'000)};
  auto const to = d.launch(0, 64);
  std::atomic<std::uint32_t> sent{0}, stopped{0};
  std::vector<std::thread> threads;
  for (std::uint32_t sender = 0; sender < 3; ++sender)
    threads.emplace_back([&, sender] {
      for (std::uint32_t n = 0; stopped < 3; ++n) {
        auto const outcome = d.tell(to, note{sender, n});
        if (outcome == errc::ok) ++sent;
        if (outcome == errc::stopped) return void(++stopped);
      }
    });
  REQUIRE(eventually([&] { return sent > 500; }));
  CHECK(d->stop(10s).stopped);
  for (auto& t : threads) t.join();
  CHECK(d.look(to).totals.accepted + d.count(event_kind::dead_letter) == sent);
}

TEST_CASE("emulated: stop names the actor in which a team is stuck", "[emulated][G10]") {
  gate_open = false;
  at_gate = 0;
  auto d = std::make_unique<test_device>();
  auto const to = d->launch(2, 8);
  REQUIRE(d->tell(to, wait_for_gate{}) == errc::ok);
  REQUIRE(eventually([] { return at_gate == 1; }));
  auto const report = (*d)->stop(50ms);
  CHECK_FALSE(report.stopped);
  CHECK(report.stuck.empty());
  REQUIRE(report.teams.size() == 1);
  CHECK(report.teams[0].actor == 2);
  CHECK_FALSE((*d)->stop(50ms).stopped);
  // It still runs there, so the arena must not be considered quiet.
  CHECK_FALSE(
      (*d)->at_safepoint(10ms, arena_access::reads, [](arena_ref const&) { FAIL("a handler runs"); }));
  gate_open = true;
  test_device::keep_for_ever(std::move(d));
}

TEST_CASE("emulated: teams that wait for a host that takes no events leave when the device is stopped",
          "[emulated][G10]") {
  auto d = std::make_unique<test_device>(setup{.completion_slots = 4});
  auto const to = d->launch(0, 64);
  (*d)->hold_completions(true);
  std::uint32_t const asks = 30;
  for (std::uint32_t n = 0; n < asks; ++n) REQUIRE(d->ask(to, get_report{}, n) == errc::ok);
  // The fifth answer finds no room.
  REQUIRE(eventually([&] {
    std::vector<team_snapshot> teams;
    (*d)->read_teams(teams);
    std::uint64_t begun = 0;  // by all teams: the actor may change its team
    for (auto const& t : teams) begun += t.beats;
    return begun >= 5;
  }));
  CHECK_FALSE((*d)->stop(50ms).stopped);  // events are lost
  CHECK((*d)->machine().end(10s));        // but nothing runs on the device any more
  (*d)->hold_completions(false);
  test_device::keep_for_ever(std::move(d));
}

TEST_CASE("emulated: the planned handler calls stall and fail, and the actor restarts", "[emulated][G9]") {
  setup s;
  s.lanes = 2;
  s.emulation.faults.stall_handler = 2;
  s.emulation.faults.stall_us = 1000;
  s.emulation.faults.fail_handler = 3;
  test_device d{s};
  auto const to = d.launch(0, 8, adds);
  for (std::uint32_t n = 0; n < 5; ++n) REQUIRE(d.ask(to, note{0, 10}, n) == errc::ok);
  for (std::uint32_t n = 0; n < 5; ++n) CHECK(report_of(d.reply(n)).taken == 45);  // retried
  auto const failures = d.all(event_kind::actor_failed);
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].actor == to);
  CHECK(failures[0].reason == errc::handler_failed);
  CHECK(failures[0].detail == static_cast<std::uint64_t>(failure_action::restarted));
}

TEST_CASE("emulated: a stopped device can be restarted with its actors", "[emulated][G8]") {
  test_device d;
  auto const to = d.launch(0, 8);
  REQUIRE(d.tell_patiently(to, note{0, 0}));
  REQUIRE(eventually([&] { return d.look(to).totals.handled == 1; }));
  CHECK(d->stop(10s).stopped);
  std::atomic<std::uint32_t> replies{0};
  d->start(
      [&](device_event const& r) {
        replies += r.kind == event_kind::reply && reinterpret_cast<report const*>(r.body.payload)->taken == 1;
      },
      {});
  REQUIRE(d.ask(to, get_report{}, 1) == errc::ok);
  CHECK(eventually([&] { return replies == 1; }));
  CHECK(d->stop(10s).stopped);
}
