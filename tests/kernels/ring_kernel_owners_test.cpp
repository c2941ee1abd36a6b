// Ownership of actors: pinned teams, wide messages, signals, restarts, successors.
#include "tests/kernels/ring_kernel_fixture.hpp"

using namespace rondo_test;
using namespace rondo_test::by_hand;

TEST_CASE("a pinned actor handles messages of many senders", "[ring_kernel][stress][G1][G2]") {
  many_senders<counter>(true);
  many_senders<batcher>(true);
}

TEST_CASE("actors terminate and are replaced while senders continue", "[ring_kernel][stress][G1][G7]") {
  machine m{2, 4, 4};
  m.start();
  std::atomic<std::uint32_t> generation{1}, accepted{0};
  std::atomic<bool> done{false};
  auto spec = m.spec_of<batcher>(0);
  m.launch(spec);
  std::vector<std::thread> senders;
  for (std::uint32_t s = 0; s < 2; ++s)
    senders.emplace_back([&, s] {
      while (!done) {
        if (m.tell({0, generation}, add{s, 0}) == errc::ok)
          ++accepted;
        else
          std::this_thread::yield();
      }
    });
  scheduler sched{m.arena.ref()};
  std::uint32_t const lives = 200;
  for (std::uint32_t life = 1; life <= lives; ++life) {
    auto const before = accepted.load();
    eventually([&] { return accepted > before; });
    // False only means that the actor is gone: its owner may obey before the word shows the signal.
    sched.signal({0, life}, life % 2 != 0 ? control_drain : control_discard);
    if (!m.wait_for(event_kind::terminated, life)) break;
    spec.id.generation = life + 1;
    if (life < lives) {
      m.launch(spec);
      generation = life + 1;
    }
  }
  done = true;
  for (auto& s : senders) s.join();
  m.stop();
  auto const ended = m.events(event_kind::terminated);
  REQUIRE(ended.size() == lives);
  std::uint64_t total = 0, unbalanced = 0;
  for (auto const& r : ended) {
    actor_totals t{};
    std::memcpy(&t, r.body.payload, sizeof t);
    total += t.accepted;
    unbalanced += t.accepted != t.handled + t.rejected + t.dead;
  }
  CHECK(total == accepted);
  CHECK(unbalanced == 0);
  CHECK(m.arena.ref().header().free_ring_count.load(memory_order::relaxed) == 4);
}

// Regression: a team that had finished its tiles could take those of the next message that used the job.
TEST_CASE("wide messages of several actors complete once each, on their own actor",
          "[ring_kernel][stress][G1][G4]") {
  machine m{3};
  wrong_self = 0;
  std::vector<actor_id> ids;
  for (std::uint32_t i = 0; i < 3; ++i) ids.push_back(m.launch<worker>(i));
  m.start();
  std::uint32_t const each = 3'000;
  std::vector<std::thread> senders;
  for (std::uint32_t s = 0; s < 3; ++s)
    senders.emplace_back([&, s] {
      for (std::uint32_t n = 0; n < each; ++n)
        if (m.tell_until_taken(ids[s], spread{n % 4}) != errc::ok) return;
    });
  for (auto& t : senders) t.join();
  for (std::uint32_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    REQUIRE(m.ask_for(ids[i], get{}, i + 1) == errc::ok);
    auto const s = m.answer<sums>(i + 1);
    CHECK(s.count == each);
    CHECK(s.disorder == 0);
  }
  CHECK(wrong_self == 0);
}

TEST_CASE("wide messages of a pinned actor complete on its team", "[ring_kernel][stress][G4]") {
  machine m{2};
  wrong_self = 0;
  auto spec = m.spec_of<worker>(0);
  spec.pinned = true;
  spec.team = 1;
  auto const id = m.launch(spec);
  m.start();
  for (std::uint32_t n = 0; n < 500; ++n) REQUIRE(m.tell_until_taken(id, spread{n % 5}) == errc::ok);
  REQUIRE(m.ask_for(id, get{}, 1) == errc::ok);
  auto const s = m.answer<sums>(1);
  CHECK(s.count == 500);
  CHECK(s.disorder == 0);
  CHECK(wrong_self == 0);
}

// Regression: a pinned team kept the actor it had made ready for itself, and never ran it.
TEST_CASE("messages from a pinned actor are handled although all other teams were busy", "[ring_kernel]") {
  machine m{2};
  auto const sink = m.launch<counter>(0), busy = m.launch<blocker>(1);
  auto spec = m.spec_of<relay>(2);
  spec.pinned = true;
  spec.team = 1;
  auto const forward = m.launch(spec);
  hold = true;
  m.start_team(0);
  REQUIRE(m.tell(busy, block{}) == errc::ok);
  REQUIRE(eventually([] { return holding.load(); }));
  m.start_team(1, {.spin_ns = 1'000, .park = true, .pinned_only = true});
  REQUIRE(m.tell(forward, address<counter>{sink}) == errc::ok);
  REQUIRE(m.tell(forward, add{0, 0}) == errc::ok);
  REQUIRE(eventually([&] { return m.arena.word(sink).queued(); }));
  hold = false;
  CHECK(eventually([&] { return m.totals(sink).handled == 1; }));
}

// Regression: the team cleared its pinned actor after the host had been notified, and thereby the successor.
TEST_CASE("a pinned team serves the actor that is launched when its previous one has ended",
          "[ring_kernel][G8]") {
  machine m{1};
  auto spec = m.spec_of<counter>(0);
  spec.pinned = true;
  auto const first = m.launch(spec);
  spec.id.generation = 2;
  m.on_event = [&](device_event const& r) {
    if (r.kind == event_kind::terminated && r.actor.generation == 1) m.launch(spec);
  };
  m.start();
  REQUIRE(scheduler{m.arena.ref()}.signal(first, control_drain));
  REQUIRE(m.wait_for(event_kind::terminated, 1));
  REQUIRE(eventually([&] { return m.arena.word(spec.id).has(actor_word::open); }));
  REQUIRE(m.ask_for(spec.id, get{}, 1) == errc::ok);
  CHECK(m.wait_for(event_kind::reply, 1));
}

// Regression: signal sets control, then the word; if the owner obeyed in between, it never released the actor.
TEST_CASE("an actor is released although its signal was obeyed before the word showed it",
          "[ring_kernel][G10]") {
  for (bool const pinned : {false, true}) {
    CAPTURE(pinned);
    machine m{1};
    auto spec = m.spec_of<counter>(0);
    spec.pinned = pinned;
    auto const id = m.launch(spec);
    actor_cell& cell = m.arena.ref().cell(0);
    cell.word.fetch_or(actor_word::signalled, memory_order::acq_rel);  // the second step of a signal
    REQUIRE(m.tell(id, add{0, 0}) == errc::ok);
    m.start();
    bool const let_go = eventually([&] {
      return !m.arena.word(id).has(actor_word::running | actor_word::signalled) && m.totals(id).handled == 1;
    });
    CHECK(let_go);
    m.arena.ref().owner(cell).control.fetch_or(
        control_inspect,
        memory_order::release);  // ends the loop of an owner that is stuck
  }
}

TEST_CASE("signals race with an owner and with each other, and all are completed",
          "[ring_kernel][stress][G8]") {
  machine m{2};
  auto const id = m.launch<counter>(0);
  m.start();
  std::vector<std::thread> threads;
  for (std::uint32_t s = 0; s < 2; ++s)
    threads.emplace_back([&, s] {
      scheduler sched{m.arena.ref()};
      for (std::uint32_t n = 0; n < 2'000; ++n) {
        m.tell(id, add{s, n});
        sched.signal(id, control_inspect);
      }
    });
  for (auto& t : threads) t.join();
  CHECK(m.at_rest(id));
  m.arena.ref().owner_of(0).control.fetch_or(control_inspect,
                                             memory_order::release);  // frees an owner that is stuck
}

// Regression: on_start of the restarted state waited for the next message.
TEST_CASE("a restarted actor starts at once, with or without mail", "[ring_kernel][G9]") {
  machine m{1};
  fragile::attempts = 0;
  fragile::started = 0;
  auto spec = m.spec_of<fragile>(0);
  spec.supervise.poison_after = 1;
  auto const id = m.launch(spec);
  m.start();
  REQUIRE(m.tell(id, broken{1}) == errc::ok);
  REQUIRE(m.wait_for(event_kind::dead_letter, 1));
  REQUIRE(m.at_rest(id));
  CHECK(fragile::started == 2);
}
