// Teams as the ring kernel runs them: wake-ups, ownership of actors, circulation of rings, and stopping.
#include "kernels/mail/snapshot.hpp"
#include "tests/model/scenarios.hpp"
#include "tests/model/team_world.hpp"

namespace model {

namespace {

/// A team without work goes to sleep just when a sender sends.
void last_moment(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}, 2, ticket_mask};
  auto const id = launch_in<receiver>(w, 0, 2);
  w.team_thread(0);
  x.thread("sender", [&] { w.send_all(0, id, 2); });
  x.run();
  w.require_at_rest(0, 2);
}

/// One actor, two teams: never two in it (they would race for its book), and no note is forgotten.
void one_owner(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 2, .quota = 1, .heap_bytes = 256}, 3};
  auto const id = launch_in<receiver>(w, 0, 2);
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender 0", [&] { w.send_all(0, id, 2); });
  x.thread("sender 1", [&] { w.send_all(1, id, 1, 255); });
  x.run();
  w.require_at_rest(0, 3);
}

/// A handler takes as many notes as are committed, and their slots are used again.
void batch_handler(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}, 4, ticket_mask};
  auto const id = launch_in<gatherer>(w, 0, 2);
  w.team_thread(0);
  x.thread("sender 0", [&] { w.send_all(0, id, 3); });
  x.thread("sender 1", [&] { w.send_all(1, id, 1); });
  x.run();
  w.require_at_rest(0, 4);
}

/// The team of a pinned actor goes to sleep just when a sender sends.
void pinned_wakes(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 1024}, 2};
  auto const id = launch_in<receiver>(w, 0, 2, 0);
  w.team_thread(0, true);
  x.thread("sender", [&] { w.send_all(0, id, 2); });
  x.run();
  w.require_at_rest(0, 2);
}

/// The same if the sender sends between the team's last look at its actor and its sleep.
void pinned_leaves(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 1024}, 2};
  auto const id = launch_in<receiver>(w, 0, 2, 0);
  scheduler sched{w.arena()};
  x.require(post(sched, id, {0, 0}) == errc::ok, "there is room");
  w.team_thread(0, true);
  x.thread("sender", [&] {
    while (w.totals_seen(0).handled == 0) relax();
    while (actor_word{w.arena().cell(0).word.load(memory_order::relaxed)}.has(actor_word::running)) relax();
    x.require(post(sched, id, {0, 1}) == errc::ok,
              "there is room");  // into the ring that the actor has kept
  });
  x.run();
  w.require_at_rest(0, 2);
}

/// An actor that a team made ready for itself is not left behind when the team sleeps or stops looking.
void kept_actor(execution& x) {
  team_world w{x, {.actors = 2, .rings = 2, .ring_slots = 2, .teams = 2, .heap_bytes = 512}, 4};
  auto const id = launch_in<relay>(w, 0, 2);
  launch_in<receiver>(w, 1, 2);
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender", [&] { w.send_all(0, id, 2); });
  x.run();
  w.require_at_rest(0, 2);
  w.require_at_rest(1, 2);
}

/// Two rings for three actors: an actor that runs out of mail returns its ring for those that wait for one.
void rings_go_round(execution& x) {
  team_world w{x, {.actors = 3, .rings = 2, .ring_slots = 2, .teams = 2, .heap_bytes = 512}, 4};
  actor_id ids[3];
  for (std::uint32_t i = 0; i < 3; ++i) ids[i] = launch_in<receiver>(w, i, 2);
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender 0", [&] {
    w.send_all(0, ids[0], 1);
    w.send_all(0, ids[1], 1);
  });
  x.thread("sender 1", [&] {
    w.send_all(1, ids[2], 1);
    w.send_all(1, ids[0], 1);
  });
  x.run();
  w.require_at_rest(0, 2);
  w.require_at_rest(1, 1);
  w.require_at_rest(2, 1);
}

/// Four rings and five actors, each of which gets one note after the other: the count of free rings, which decides who
/// keeps a ring, must not let idle actors keep them all.
void idle_actors_keep_no_ring(execution& x) {
  team_world w{x, {.actors = 5, .rings = 4, .ring_slots = 2, .teams = 2, .heap_bytes = 1024}, 10};
  actor_id ids[5];
  for (std::uint32_t i = 0; i < 5; ++i) ids[i] = launch_in<receiver>(w, i, 2);
  w.team_thread(0);
  w.team_thread(1);
  for (std::uint32_t s = 0; s < 2; ++s)
    x.thread(s == 0 ? "sender 0" : "sender 1", [&w, &ids, s] {
      for (std::uint32_t i = 0; i < 5; ++i) w.send_all(s, ids[(i + 2 * s) % 5], 1);
    });
  x.run();
  for (std::uint32_t i = 0; i < 5; ++i) w.require_at_rest(i, 2);
}

/// Few rings, used by one actor and then, through another sender, by a pinned actor whose team polls: the team, and a
/// second sender, find the ring in the state in which its last holder left it.
void rings_from_others(execution& x, std::uint32_t rings) {
  team_world w{x, {.actors = rings + 1, .rings = rings, .ring_slots = 2, .teams = 2, .heap_bytes = 1024}, 4};
  auto const first = launch_in<receiver>(w, 0, 2);
  auto const second = launch_in<receiver>(w, 1, 2, 1);
  w.team_thread(0);
  w.team_thread(1, true);
  auto const send = [&](std::uint32_t sender) {
    scheduler mine{w.arena()};
    for (;;) {
      auto const outcome = post(mine, second, {sender, 0});
      if (outcome == errc::ok) return;
      x.require(outcome == errc::arena_full, "two notes fit: the mailbox is never full");
      relax();
    }
  };
  x.thread("sender 0", [&] {
    w.send_all(0, first, 2);
    send(0);
  });
  x.thread("sender 1", [&] { send(1); });
  x.run();
  w.require_at_rest(0, 2);
  w.require_at_rest(1, 2);
}
void second_hand_ring(execution& x) { rings_from_others(x, 1); }
void second_hand_rings(execution& x) { rings_from_others(x, 2); }

/// A team that polls its own actor finds the ring that a sender attaches, at any of its looks.
void poll_finds_ring(execution& x) {
  team_world w{x, {.actors = 2, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 512}, 1};
  auto const id = launch_in<receiver>(w, 0, 2, 0);
  w.team_thread(0, true);
  x.thread("sender", [&] {
    for (int n = 0; n < 64; ++n)
      relax();  // at its 64th look the team publishes its counters, and may give up
    auto const ring = pop_free_ring(w.arena());  // another actor's ring, which
    w.arena().ring(ring).tail = 0;               // its owner returns
    push_free_ring(w.arena(), ring);
    w.send_all(0, id, 1);
  });
  x.run();
  w.require_at_rest(0, 1);
}

/// A wide note: both teams run tiles, each tile runs once, and the finishing team sees the writes of all tiles.
void wide_note(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 2, .heap_bytes = 256}, 2};
  auto const id = launch_in<worker>(w, 0, 2);
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender", [&] {
    scheduler sched{w.arena()};
    for (int n = 0; n < 2; ++n) x.require(post(sched, id, {0, 2}) == errc::ok, "there is room");
  });
  x.run();
  w.require_at_rest(0, 2);
}

/// The same for a pinned actor: its team stays with it until the other team's last tile is done.
void wide_note_of_pinned(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 2, .heap_bytes = 1024}, 2};
  auto const id = launch_in<worker>(w, 0, 2, 1);
  w.team_thread(0);
  w.team_thread(1, true);
  x.thread("sender", [&] {
    scheduler mine{w.arena()};
    for (int n = 0; n < 2; ++n) x.require(post(mine, id, {0, 2}) == errc::ok, "there is room");
  });
  x.run();
  w.require_at_rest(0, 2);
}

/// The stop word ends every team at once; accepted notes that were not handled still wait in the mailbox.
void stop_word(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 4, .teams = 2, .heap_bytes = 256}, ~0u};
  auto const id = launch_in<receiver>(w, 0, 4);
  std::uint32_t accepted = 0;
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender", [&] {
    scheduler sched{w.arena()};
    for (std::uint32_t n = 0; n < 3; ++n) accepted += post(sched, id, {0, n}) == errc::ok;
  });
  x.thread("stopper", [&] { w.stop(); });
  x.run();
  auto const& cell = w.arena().cell(0);
  actor_word const word{cell.word.load(memory_order::relaxed)};
  auto const waiting = word.ring() == 0 ? 0 : (word.tail() - w.arena().owner(cell).head) & ticket_mask;
  x.require(!word.has(actor_word::running), "nobody owns the actor");
  x.require(accepted == w.totals(0).handled + waiting, "accepted = handled + waiting");
}

/// Bounded rounds of one message each, which the host restarts: together they behave like one kernel.
void rounds(execution& x) {
  team_world w{x, {.actors = 2, .rings = 2, .ring_slots = 2, .teams = 1, .heap_bytes = 512}, 4};
  auto const id = launch_in<relay>(w, 0, 2);
  launch_in<receiver>(w, 1, 2);
  x.thread("host", [&] {
    while (!w.arena().stopping()) {
      w.run_team(0, false, {.messages = 1, .ns = 20'000});
      relax();
    }
  });
  x.thread("sender", [&] { w.send_all(0, id, 2); });
  x.run();
  w.require_at_rest(0, 2);
  w.require_at_rest(1, 2);
}

/// Two actors go on by themselves, with a team that has both and a sender that writes to one of them.
void goes_on(execution& x) {
  team_world w{x, {.actors = 2, .rings = 2, .ring_slots = 2, .teams = 1, .quota = 1, .heap_bytes = 512}, 8};
  actor_id const walkers[] = {launch_in<walker>(w, 0, 1), launch_in<walker>(w, 1, 1)};
  w.team_thread(0);
  x.thread("sender", [&] {
    scheduler sched{w.arena()};
    for (auto const id : walkers) x.require(post(sched, id, {0, 2}) == errc::ok, "there is room");
    while (post(sched, walkers[0], {0, 1}) != errc::ok) relax();
  });
  x.run();
}

/// The same with one actor, and two teams that may take it.
void goes_on_anywhere(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 2, .quota = 1, .heap_bytes = 256}, 5};
  auto const id = launch_in<walker>(w, 0, 1);
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender", [&] {
    scheduler sched{w.arena()};
    x.require(post(sched, id, {0, 2}) == errc::ok, "there is room");
    while (post(sched, id, {0, 1}) != errc::ok) relax();
  });
  x.run();
}

/// Two actors wait for room in the mailbox of a third one, which has room for one note.
void waits_for_room(execution& x) {
  team_world w{x, {.actors = 3, .rings = 3, .ring_slots = 2, .teams = 2, .heap_bytes = 1024}, 6};
  launch_in<receiver>(w, 0, 1);
  actor_id const feeders[] = {launch_in<feeder>(w, 1, 2), launch_in<feeder>(w, 2, 2)};
  scheduler sched{w.arena()};
  for (std::uint32_t s = 0; s < 2; ++s)
    x.require(post(sched, feeders[s], {s, 2}) == errc::ok, "there is room");
  w.team_thread(0);
  w.team_thread(1);
  x.run();
  w.require_at_rest(0, 4);
}

/// An actor waits for room in a mailbox whose actor ends at that time.
void waits_for_who_ends(execution& x) {
  team_world w{x, {.actors = 2, .rings = 2, .ring_slots = 2, .teams = 2, .heap_bytes = 1024}, 4};
  auto const target = launch_in<receiver>(w, 0, 1);
  auto const id = launch_in<feeder>(w, 1, 2);
  scheduler sched{w.arena()};
  x.require(post(sched, id, {0, 3}) == errc::ok, "there is room");
  w.on_event = [&](device_event const& r) {
    if (r.kind == event_kind::dead_letter) w.one_ended();
  };
  w.team_thread(0);
  w.team_thread(1);
  x.thread("host", [&] {
    scheduler mine{w.arena()};
    x.require(mine.signal(target, control_discard), "it lives");
  });
  x.run();
}

/// An actor stashes what comes before the note that it waits for. Rings are scarce: it would give an empty one back.
void stashes(execution& x) {
  team_world w{x, {.actors = 2, .rings = 1, .ring_slots = 4, .teams = 2, .quota = 1, .heap_bytes = 512}, 5};
  auto const id = launch_in<hoarder>(w, 0, 4);
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender 0", [&] { w.send_all(0, id, 2); });
  x.thread("sender 1", [&] { w.send_all(1, id, 3); });
  x.run();
  w.require_at_rest(0, 5);
}

/// An actor is drained that stashes all that it gets.
void stashes_at_end(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 4, .teams = 1, .heap_bytes = 256}, 2};
  auto const id = launch_in<hoarder>(w, 0, 4);
  std::uint32_t letters = 0;
  w.on_event = [&](device_event const& r) {
    letters += r.kind == event_kind::dead_letter;
    if (r.kind == event_kind::terminated) w.stop();
  };
  w.team_thread(0);
  std::uint32_t accepted = 0;
  x.thread("sender", [&] {
    scheduler sched{w.arena()};
    for (std::uint32_t n = 0; n < 2; ++n) accepted += post(sched, id, {0, n}) == errc::ok;
  });
  x.thread("host", [&] {
    scheduler sched{w.arena()};
    x.require(sched.signal(id, control_drain), "it lives");
  });
  x.run();
  x.require(letters == accepted, "what was accepted became dead letters");
}

/// Counters are read while the actor runs, and while two actors take turns with one ring.
void counters_are_read_meanwhile(execution& x) {
  team_world w{x, {.actors = 2, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 512}, 4};
  auto const first = launch_in<receiver>(w, 0, 2), second = launch_in<receiver>(w, 1, 2);
  w.team_thread(0);
  x.thread("sender", [&] {
    w.send_all(0, first, 1);
    w.send_all(1, second, 2);
    scheduler sched{w.arena()};
    while (post(sched, first, {0, 1}) != errc::ok) relax();
  });
  x.thread("reader", [&] {
    actor_snapshot last;
    auto const& word = w.arena().cell(0).word;
    for (int i = 0; i < 3; ++i) {
      auto const before = word.load(memory_order::relaxed);
      auto const now = read_actor(w.arena(), 0);
      // Relaxed, both: while it has its ring, the word has no value twice, so no team ran the actor in between.
      bool const rests = !actor_word{before}.has(actor_word::running) && actor_word{before}.ring() != 0 &&
                         word.load(memory_order::relaxed) == before;
      x.require(!rests || now.totals.accepted == now.totals.handled + now.waiting,
                "accepted = handled + waiting while no team runs the actor");
      x.require(now.totals.handled >= last.totals.handled, "counters grow");
      x.require(now.totals.accepted >= now.totals.handled && now.totals.accepted <= 2, [&] {
        return "accepted " + std::to_string(now.totals.accepted) + " handled " +
               std::to_string(now.totals.handled);
      });
      last = now;
    }
  });
  x.run();
}

}  // namespace

std::vector<scenario> team_scenarios() {
  return {
      {"last_moment", "a team that falls asleep misses no sender", last_moment, bounds{3, 1}, bounds{2, 1}},
      {"one_owner", "never two teams in one actor, and no note is forgotten", one_owner, bounds{2, 1},
       bounds{1, 1}},
      {"batch_handler", "a handler that takes many notes at once gets each of them once", batch_handler,
       bounds{2, 1}, bounds{1, 1}},
      {"pinned_wakes", "a pinned actor's team that falls asleep misses no sender", pinned_wakes, bounds{3, 1},
       bounds{2, 1}},
      {"pinned_leaves", "the same when the sender comes between its last look and its sleep", pinned_leaves,
       bounds{1, 1}},
      {"kept_actor", "an actor that a team keeps for itself is served", kept_actor, bounds{2, 1},
       bounds{1, 1}},
      {"rings_go_round", "actors that share too few rings are all served", rings_go_round},
      {"idle_rings", "actors without mail do not keep every ring", idle_actors_keep_no_ring},
      {"second_hand_ring", "a ring that changes hands is as its last holder left it", second_hand_ring},
      {"second_hand_rings", "the same when senders compete with rings of their own", second_hand_rings},
      {"poll_finds_ring", "a team that polls takes a ring as its last holder left it", poll_finds_ring,
       bounds{2, 0}, bounds{1, 1}},
      {"snapshot", "counters that are read while their actor runs are of one moment",
       counters_are_read_meanwhile, bounds{2, 1}, bounds{1, 1}},
      {"goes_on", "an actor that goes on is never left behind", goes_on, bounds{2, 1}, bounds{1, 1}},
      {"goes_on_anywhere", "nor by the other team", goes_on_anywhere, bounds{2, 1}, bounds{1, 1}},
      {"room_awaited", "actors that wait for room hear of it", waits_for_room, bounds{1, 1}, bounds{1, 0}},
      {"room_of_the_gone", "the same when the mailbox's actor ends", waits_for_who_ends, bounds{1, 1},
       bounds{1, 0}},
      {"stash", "what an actor stashes comes again, and nothing else is left behind", stashes, bounds{1, 1},
       bounds{1, 0}},
      {"stash_of_who_ends", "an actor that is drained ends though it has stashed mail", stashes_at_end,
       bounds{2, 1}, bounds{1, 1}},
      {"wide_note", "each tile runs once, and finish sees them all", wide_note, bounds{2, 1}, bounds{1, 1}},
      {"wide_note_of_pinned", "the same when the team of a pinned actor stays with it", wide_note_of_pinned,
       bounds{2, 1}, bounds{1, 1}},
      {"stop_word", "teams stop, and what was accepted is handled or waits", stop_word, bounds{2, 1},
       bounds{1, 1}},
      {"rounds", "bounded rounds lose nothing between two of them", rounds, bounds{2, 1}, bounds{2, 0}},
  };
}

}  // namespace model
