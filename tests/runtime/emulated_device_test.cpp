// The device `emulated` as a device: order, backpressure, safepoints, pinned actors.
#include "runtime/observe/telemetry.hpp"
#include "tests/runtime/emulated_fixture.hpp"

using namespace rondo;
using namespace rondo_test;
using namespace std::chrono_literals;

TEST_CASE("emulated: messages keep their order and are conserved", "[emulated][G1][G2][stress]") {
  flood({});
  flood({.lanes = 2, .park = false});
  flood({.lanes = 2, .round = {.messages = 16, .ns = 1'000'000}});
}

TEST_CASE("emulated: messages keep their order and are conserved when the bus is slow",
          "[emulated][G1][G2][stress]") {
  CAPTURE(test_seed());
  for (std::uint64_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    flood(with_delays(test_seed() + i, i < 3 ? 20'000 : 1'000));
  }
}

TEST_CASE("emulated: all lanes of a team run a handler together", "[emulated][G6]") {
  test_device d{{.lanes = 3}};
  auto const to = d.launch(0, 8, adds);
  for (std::uint32_t n = 0; n < 20; ++n) REQUIRE(d.ask(to, note{0, n}, n) == errc::ok);
  for (std::uint32_t n = 0; n < 20; ++n) {
    auto const r = d.reply(n);
    if (r.reason == errc::mailbox_full) continue;
    CHECK(report_of(r).taken == n * (n == 0 ? 0 : n - 1) / 2);
    CHECK(report_of(r).disorder == 3);
  }
  CHECK_FALSE(d->mail().is_near());
}

TEST_CASE("emulated: an ack reports the mailbox's answer, and a batch goes in as a whole", "[emulated][G5]") {
  test_device d;
  auto s = d.spec(0, 20);
  s.active = false;  // so that it keeps its mail
  REQUIRE(d->launch(s) == errc::ok);
  std::vector<note> const notes(9, note{0, 1});
  message_header const h = note_header();
  auto const send = [&](void const* payloads, std::uint32_t bytes, std::uint32_t count, actor_id ack = {}) {
    return d->mail().post({s.id, h, payloads, bytes, bytes, count}, {ack});
  };
  for (std::uint32_t n = 0; n < 3; ++n)
    REQUIRE(send(notes.data(), sizeof(note), 9, test_device::ack(n)) == errc::ok);
  CHECK(d.reply(0).reason == errc::ok);
  CHECK(d.reply(1).reason == errc::ok);
  CHECK(d.reply(2).reason == errc::mailbox_full);
  CHECK(d.look(s.id).waiting == 18);
  CHECK(d.tell(s.id, notes[0], test_device::ack(3)) == errc::ok);
  CHECK(d.reply(3).reason == errc::ok);
  CHECK(d.tell({s.id.index, 9}, notes[0], test_device::ack(4)) == errc::ok);
  CHECK(d.reply(4).reason == errc::actor_gone);
  CHECK(send(nullptr, sizeof(note), 0) == errc::ok);
  CHECK(send(nullptr, 97, 1) == errc::payload_too_large);
  CHECK(send(nullptr, sizeof(note), 1025) == errc::batch_too_large);
  CHECK(d.count(event_kind::dead_letter) == 0);
  REQUIRE(d->signal(s.id, control_activate) == errc::ok);
  CHECK(eventually([&] { return d.look(s.id).totals.handled == 19; }));
}

TEST_CASE("emulated: a full submission ring is reported, and the messages it took are handled",
          "[emulated][G5]") {
  setup s;
  s.submission_slots = 8;
  test_device d{s};
  auto const to = d.launch(0, 64);
  REQUIRE(eventually([&] { return d.look(to).state == lifecycle::active; }));
  d->hold_submissions(true);
  std::uint32_t sent = 0;
  // The I/O team may be in the middle of a step when it is told to hold.
  while (d.tell(to, note{0, sent}) == errc::ok) ++sent;
  CHECK(sent >= 8);
  CHECK(d.tell(to, note{0, sent}) == errc::device_busy);
  auto const header = note_header();
  CHECK(d->mail().post({to, header, nullptr, sizeof(note), 0, 9}) == errc::batch_too_large);
  d->hold_submissions(false);
  CHECK(eventually([&] { return d.look(to).totals.handled == sent; }));
}

TEST_CASE("emulated: teams wait for room in the completion ring and lose no event", "[emulated][G1][G5]") {
  setup s;
  s.completion_slots = 4;
  test_device d{s};
  auto const to = d.launch(0, 64);
  d->hold_completions(true);
  std::uint32_t const asks = 60;
  for (std::uint32_t n = 0; n < asks; ++n) REQUIRE(d.ask(to, get_report{}, n) == errc::ok);
  for (std::uint32_t n = asks; n < 2 * asks; ++n)
    REQUIRE(d.tell({1, 9}, note{0, n}, test_device::ack(n)) == errc::ok);
  CHECK(d.look(to).index == to.index);  // the I/O team waits for room, but the keeper answers
  d->hold_completions(false);
  for (std::uint32_t n = 0; n < asks; ++n) CHECK(d.reply(n).reason == errc::ok);
  for (std::uint32_t n = asks; n < 2 * asks; ++n) CHECK(d.reply(n).reason == errc::actor_gone);
  CHECK(d.count(event_kind::reply) == 2 * asks);
}

TEST_CASE("emulated: at a safepoint no handler runs, and everything sent before it is there",
          "[emulated][G1]") {
  for (auto const& s : {setup{}, setup{.lanes = 2}, with_delays(test_seed(), 10'000)}) {
    test_device d{s};
    auto const busy = d.launch(0, 64);
    auto kept = d.spec(1, 64);
    kept.active = false;
    REQUIRE(d->launch(kept) == errc::ok);
    std::atomic<bool> done{false};
    std::atomic<std::uint32_t> sent{0};
    std::thread sender([&] {
      while (!done)
        if (d.tell(busy, note{0, sent}) == errc::ok) ++sent;
    });
    for (std::uint32_t round = 1; round <= 5; ++round) {
      for (int i = 0; i < 3; ++i) REQUIRE(d.tell_patiently(kept.id, note{1, round}));
      std::uint64_t before = 0, after = 1;
      std::uint32_t waiting = 0;
      REQUIRE(d->at_safepoint(10s, arena_access::reads, [&](arena_ref const& arena) {
        before = read_actor(d->arena(), busy.index).totals.handled;
        waiting = read_actor(arena, kept.id.index).waiting;
        auto const seen = sent.load();
        // The sender continues until its messages wait in the ring.
        for (int i = 0; i < 50 && sent < seen + 4; ++i) std::this_thread::yield();
        after = read_actor(d->arena(), busy.index).totals.handled;
        CHECK(read_actor(arena, busy.index).totals.handled == before);
      }));
      CHECK(before == after);
      CHECK(waiting == 3 * round);
    }
    CHECK_THROWS_AS(d->at_safepoint(10s, arena_access::reads,
                                    [](arena_ref const&) { throw std::runtime_error("no space left"); }),
                    std::runtime_error);
    done = true;
    sender.join();
    CHECK(eventually([&] { return d.look(busy).totals.handled + d.count(event_kind::dead_letter) == sent; }));
  }
}

// On a GPU, a read of a busy actor takes longer than the time between two of its turns. Here its team never finishes
// publishing.
TEST_CASE("emulated: an actor whose counters always change does not keep the device from its requests",
          "[emulated]") {
  test_device d{{.teams = 1}};
  auto const busy = d.launch(0, 4);
  REQUIRE(d.tell(busy, note{0, 1}) == errc::ok);
  REQUIRE(eventually([&] { return d.look(busy).totals.handled == 1; }));
  auto kept = d.spec(1, 4);
  kept.active = false;
  REQUIRE(d->launch(kept) == errc::ok);
  for (std::uint32_t i = 1; i <= 2; ++i) REQUIRE(d.tell_patiently(kept.id, note{1, i}));
  REQUIRE(eventually([&] { return d.look(kept.id).waiting == 2; }));
  auto& of_busy = d->arena().owner_of(busy.index).totals;
  auto& of_kept = d->arena().owner_of(kept.id.index).totals;
  std::atomic<bool> publishing{false}, done{false};
  std::thread team([&] {
    of_busy.publish(of_busy.own(), [&] {
      of_kept.publish(of_kept.own(), [&] {
        publishing = true;
        while (!done) std::this_thread::yield();
      });
    });
  });
  while (!publishing) std::this_thread::yield();
  auto const seen = d.look(busy);
  CHECK_FALSE(seen.of_one_moment);
  CHECK(seen.totals.handled == 1);
  auto const mail = d.look(kept.id);
  CHECK_FALSE(mail.of_one_moment);
  CHECK(mail.waiting == 2);  // regression: 0
  CHECK(d->at_safepoint(10s, arena_access::reads, [](arena_ref const&) {}));
  CHECK(d->stop(10s).stopped);
  done = true;
  team.join();
  CHECK(d.look(busy).of_one_moment);
}

TEST_CASE("emulated: the counters can be read while a safepoint waits for teams that wait for the poller",
          "[emulated][G10]") {
  // Regression: a deadlock, because a sink may need a lock that the reader of the counters holds.
  setup s;
  s.completion_slots = 4;
  test_device d{s};
  auto const to = d.launch(0, 64);
  d->hold_completions(true);
  for (std::uint32_t n = 0; n < 30; ++n) REQUIRE(d.ask(to, get_report{}, n) == errc::ok);
  REQUIRE(eventually([&] { return d.look(to).totals.accepted == 30; }));
  std::atomic<bool> quiet{false};
  std::thread pauser([&] { quiet = d->at_safepoint(60s, arena_access::reads, [](arena_ref const&) {}); });
  for (int i = 0; i < 20; ++i) CHECK(d.look(to).totals.accepted == 30);
  d->hold_completions(false);
  pauser.join();
  CHECK(quiet);
  for (std::uint32_t n = 0; n < 30; ++n) CHECK(d.reply(n).reason == errc::ok);
}

TEST_CASE("emulated: pinned actors get their own teams while there are some", "[emulated][G8]") {
  test_device d{{.pinned_teams = 2}};
  auto const pinned = [&](std::uint32_t index, std::uint32_t generation = 1) {
    auto s = d.spec(index, 16, listens, generation);
    s.pinned = true;
    return s;
  };
  REQUIRE(d->launch(pinned(0)) == errc::ok);
  REQUIRE(d->launch(pinned(1)) == errc::ok);
  CHECK(d->launch(pinned(2)) == errc::actor_limit);
  REQUIRE(d.tell({0, 1}, note{0, 0}) == errc::ok);
  REQUIRE(d.ask({0, 1}, get_report{}, 1) == errc::ok);
  CHECK(report_of(d.reply(1)).taken == 1);
  REQUIRE(d->signal({0, 1}, control_drain) == errc::ok);
  REQUIRE(eventually([&] { return d.count(event_kind::terminated) == 1; }));
  REQUIRE(eventually([&] { return d->launch(pinned(0, 2)) == errc::ok; }));
  REQUIRE(d.ask({0, 2}, get_report{}, 2) == errc::ok);
  CHECK(report_of(d.reply(2)).taken == 0);
  CHECK(d->at_safepoint(10s, arena_access::reads, [](arena_ref const&) {}));
  REQUIRE(d.ask({0, 2}, get_report{}, 3) == errc::ok);
  CHECK(report_of(d.reply(3)).taken == 0);
}

TEST_CASE("emulated: a lost message is noticed, because waiting messages are counted in the mailbox",
          "[emulated][G1]") {
  // Regression: the waiting messages were computed from the counters under test, so a loss could not be noticed.
  test_device d;
  auto s = d.spec(0, 8);
  s.active = false;
  REQUIRE(d->launch(s) == errc::ok);
  for (std::uint32_t n = 0; n < 5; ++n) REQUIRE(d.tell(s.id, note{0, n}, test_device::ack(n)) == errc::ok);
  for (std::uint32_t n = 0; n < 5; ++n) REQUIRE(d.reply(n).reason == errc::ok);
  auto const moment = [&] {
    auto const now = d.look(s.id);
    telemetry t;
    t.live = now.totals;
    t.waiting = now.waiting;
    return t;
  };
  CHECK(moment().waiting == 5);
  CHECK(moment().conserved());
  REQUIRE(d->at_safepoint(10s, arena_access::writes, [&](arena_ref const& arena) {
    actor_cell& cell = arena.cell(s.id.index);
    actor_word const word{cell.word.load(memory_order::acquire)};
    scheduler{arena}.adopt_ring(arena.owner(cell), word);
    auto const ring = arena.ring_at(word.ring());
    priority_lists_ref{arena, cell, ring}.take(
        arena.owner(cell).head);  // simulates an owner that forgets to count
  }));
  CHECK(moment().waiting == 4);
  CHECK_FALSE(moment().conserved());
}

TEST_CASE(
    "the waiting messages of a mailbox are counted at every fill and across the overflow of its tickets",
    "[emulated][G1]") {
  constexpr std::uint32_t slots = 8;
  alignas(128) static std::byte memory[mail_ring_ref::bytes_for(slots)];
  for (std::uint32_t const head : {0u, 1u, 5u, 8u, 1'003u, ticket_mask - 3, ticket_mask})
    for (bool const committed : {true, false}) {
      std::memset(memory, 0, sizeof memory);
      auto const ring = mail_ring_ref::at(memory, slots);
      // As if enough messages had gone through to make `head` the next ticket.
      for (std::uint32_t back = slots; back > 0; --back) ring.give_back((head - back) & ticket_mask);
      for (std::uint32_t waiting = 0; waiting <= slots; ++waiting) {
        CAPTURE(head, committed);
        // A ticket waits from the moment at which a sender takes it, committed or not.
        CHECK(count_waiting(ring, (head + waiting) & ticket_mask) == waiting);
        if (committed && waiting < slots) ring.commit((head + waiting) & ticket_mask);
      }
    }
}
