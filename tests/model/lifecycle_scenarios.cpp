// Actors that start, pause, fail and end while senders send to them.
#include "tests/model/scenarios.hpp"
#include "tests/model/team_world.hpp"

namespace model {

namespace {

/// After sixty-four lives the generation bits in the word are the same again: a ref to the old life must not reach the
/// new actor.
void generation_wraps(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}, ~0u};
  auto s = w.spec(0, 2, 65);
  w.arena().cell(0).generation.store(1, memory_order::relaxed);  // what the sender may have seen earlier
  x.thread("launcher", [&] {
    scheduler sched{w.arena()};
    launch_actor<behaviours>(sched, s);
    x.require(post(sched, s.id, {1, 0}) == errc::ok, "there is room");
  });
  x.thread("sender", [&] {
    scheduler sched{w.arena()};
    for (int n = 0; n < 3; ++n)
      x.require(post(sched, {0, 1}, {0, 0}) == errc::actor_gone, "the ref is of another life");
  });
  x.run();
}

/// The results that a sender got for its notes.
struct outcomes {
  std::uint32_t accepted = 0, gone = 0;
};

void send_until_gone(team_world& w, actor_id to, std::uint32_t sender, std::uint32_t count, outcomes& o) {
  scheduler sched{w.arena()};
  for (std::uint32_t n = 0; n < count;) {
    auto const outcome = post(sched, to, {sender, o.accepted});
    if (outcome == errc::ok)
      w.x().require(o.gone == 0, "who is gone stays gone"), ++o.accepted, ++n;
    else if (outcome == errc::actor_gone)
      ++o.gone, ++n;
    else
      relax();
  }
}

/// An actor is launched while a sender with its ref already sends: it is gone until it is launched, and its first note
/// finds it complete.
void launch_against_sender(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 4096}, 1};
  auto s = w.spec(0, 2);
  s.behaviour = behaviours::index_of<receiver>();
  // A dedicated ring, in memory that had another use before: as if messages before the first one waited.
  s.ring_id = 2;
  s.ring_slots = 2;
  s.ring_offset = align_up(w.arena().header().heap_at + 1024, 128);
  s.ring_has_past = true;
  w.arena().ring(2).set_place(s.ring_offset, 2);
  for (std::uint32_t i = 0; i < 2; ++i)
    w.arena().ring_at(2).slot(i).sequence.store(ticket_mask, memory_order::relaxed);
  x.thread("launcher", [&] {
    scheduler sched{w.arena()};
    launch_actor<behaviours>(sched, s);
  });
  x.thread("sender", [&] {
    scheduler sched{w.arena()};
    for (;;) {
      auto const outcome = post(sched, s.id, {0, 0});
      if (outcome == errc::ok) break;
      x.require(outcome == errc::actor_gone, "gone until it is there");
      relax();
    }
  });
  x.thread("observer", [&] {
    x.require(estimate_waiting(w.arena(), s.id) <= 1, "what the ring held before is not waiting");
  });
  w.team_thread(0);
  x.run();
  w.require_at_rest(0, 1);
}

/// An actor is terminated while two senders write to it. Its successor in the same cell gets none of their notes, and
/// each accepted note is handled or dead. `control` determines whether waiting mail is handled first.
void terminate(execution& x, std::uint32_t control) {
  team_world w{x, {.actors = 1, .rings = 2, .ring_slots = 2, .teams = 2, .heap_bytes = 1024}, ~0u};
  auto const id = launch_in<receiver>(w, 0, 2);
  auto next = w.spec(0, 2, 2);
  auto& terminated = x.shared<atomic<std::uint32_t>>();
  actor_totals first{};
  std::uint32_t dead = 0;
  w.on_event = [&](device_event const& r) {
    dead += r.kind == event_kind::dead_letter;
    if (r.kind != event_kind::terminated) return;
    __builtin_memcpy(&first, r.body.payload, sizeof first);
    terminated.store(1, memory_order::release);
  };
  outcomes old_ref, new_ref;
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender", [&] { send_until_gone(w, id, 0, 3, old_ref); });
  x.thread("host", [&] {
    scheduler sched{w.arena()};
    x.require(sched.signal(id, control), "it lives");
    while (terminated.load(memory_order::acquire) == 0) relax();
    launch_actor<behaviours>(sched, next);
    send_until_gone(w, next.id, 1, 1, new_ref);
    // The successor's note is the last one: when it has been handled, and the sender with the old ref has ended, stop.
    while (old_ref.accepted + old_ref.gone < 3) relax();
    w.all = w.ended + 1;
    while (w.totals_seen(0).handled == 0) relax();
    w.stop();
  });
  x.run();
  x.require(new_ref.accepted == 1 && w.totals(0).accepted == 1 && w.totals(0).handled == 1,
            "the successor gets its own note, and no other");
  x.require(first.accepted == old_ref.accepted, "the terminated actor counted what was accepted");
  x.require(first.accepted == first.handled + first.dead && first.dead == dead, "each was handled or dead");
}
void drain_against_sender(execution& x) { terminate(x, control_drain); }
void discard_against_sender(execution& x) { terminate(x, control_discard); }

/// A pinned actor lives between two others in one cell, and a queue entry of the first one still exists: only its own
/// team runs it, none of its notes is left behind, and its successor is served.
void pinned_between_others(execution& x) {
  team_world w{x, {.actors = 1, .rings = 2, .ring_slots = 2, .teams = 2, .heap_bytes = 1024}, ~0u};
  w.arena().cell(0).word.store(actor_word{actor_word::paused}.with(actor_word::queued_in(0)).bits(),
                               memory_order::relaxed);
  w.arena().ready(0).push(0);
  auto const id = launch_in<receiver>(w, 0, 2, 1, 2);
  auto const next = w.spec(0, 2, 3);
  auto& terminated = x.shared<atomic<std::uint32_t>>();
  w.on_event = [&](device_event const& r) {
    if (r.kind == event_kind::terminated) terminated.store(1, memory_order::release);
  };
  w.on_note = [&](note const& n) {
    auto const runs = w.arena().team(1).actor.load(memory_order::relaxed);
    x.require(n.sender != 0 || runs == 1, "the pinned actor's own team runs it");
  };
  w.team_thread(0);
  w.team_thread(1, true);
  x.thread("sender", [&] { w.send_all(0, id, 1); });
  x.thread("host", [&] {
    scheduler sched{w.arena()};
    while (w.totals_seen(0).handled == 0) relax();
    x.require(sched.signal(id, control_drain), "it lives");
    while (terminated.load(memory_order::acquire) == 0) relax();
    launch_actor<behaviours>(sched, next);
    w.all = 2;
    x.require(post(sched, next.id, {1, 0}) == errc::ok, "there is room");
  });
  x.run();
  w.require_at_rest(0, 1);
}

/// An actor is deactivated and activated again while a sender writes to it: no note is lost, and none is handled in
/// between.
void pause_against_sender(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 4, .teams = 1, .heap_bytes = 256}, 3};
  auto const id = launch_in<receiver>(w, 0, 4);
  bool paused = false;
  std::uint32_t ended_before = 0;
  auto& now_paused = x.shared<atomic<std::uint32_t>>();
  w.on_event = [&](device_event const& r) {
    if (r.kind == event_kind::state_changed && r.detail == static_cast<std::uint64_t>(lifecycle::deactivated))
      now_paused.store(1, memory_order::release);
  };
  w.team_thread(0);
  x.thread("sender", [&] { w.send_all(0, id, 3); });
  x.thread("host", [&] {
    scheduler sched{w.arena()};
    x.require(sched.signal(id, control_deactivate), "it lives");
    while (now_paused.load(memory_order::acquire) == 0) {
      if (w.arena().stopping()) return;  // all notes were already handled
      relax();
    }
    ended_before = w.ended;
    paused = true;
    for (int i = 0; i < 3; ++i) relax();
    x.require(w.ended == ended_before, "a deactivated actor is not run for its mail");
    x.require(sched.signal(id, control_activate), "it lives");
  });
  x.run();
  w.require_at_rest(0, 3);
}

/// Control that arrives when the owner releases the actor is not forgotten: each requested report arrives.
void signal_at_the_last_moment(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 2, .heap_bytes = 256}, ~0u};
  auto const id = launch_in<receiver>(w, 0, 2);
  auto& reports = x.shared<atomic<std::uint32_t>>();
  w.on_event = [&](device_event const& r) {
    if (r.kind == event_kind::depths) reports.fetch_add(1, memory_order::acq_rel);
  };
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender", [&] { w.send_all(0, id, 1); });
  x.thread("host", [&] {
    scheduler sched{w.arena()};
    for (std::uint32_t n = 1; n <= 2; ++n) {
      x.require(sched.signal(id, control_inspect), "it lives");
      while (reports.load(memory_order::acquire) < n) relax();
    }
    while (w.ended < 1) relax();
    w.stop();
  });
  x.run();
  w.require_at_rest(0, 1);
}

/// A second signal arrives while the first one is obeyed: it is also obeyed. The team is written by hand, to keep it
/// small.
void signal_twice(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}, ~0u};
  auto const id = launch_in<receiver>(w, 0, 2);
  x.require(scheduler{w.arena()}.signal(id, control_deactivate), "it lives");
  x.thread("team", [&] {
    scheduler sched{w.arena(), true};
    auto const port = w.host();
    team const alone{0};
    while (!w.arena().stopping()) {
      std::uint32_t index = 0;
      if (sched.next(index))
        slice<behaviours>{sched, alone, port, index}.run(1);
      else
        relax();
    }
  });
  x.thread("host", [&] {
    scheduler sched{w.arena()};
    x.require(sched.signal(id, control_activate), "it lives");
    auto const& control = w.arena().owner_of(0).control;
    while ((control.load(memory_order::relaxed) & control_mask) != 0)
      relax();  // forever, if it was forgotten
    w.arena().header().stop.store(1, memory_order::relaxed);
  });
  x.run();
}

/// An actor without a ring runs for control while a sender attaches a ring that had another holder: the report, or the
/// end, counts the note. `control` is the command.
void control_meets_ring(execution& x, std::uint32_t control) {
  team_world w{x, {.actors = 2, .rings = 1, .ring_slots = 2, .teams = 2, .heap_bytes = 512}, ~0u};
  auto const first = launch_in<receiver>(w, 0, 2), second = launch_in<receiver>(w, 1, 2);
  outcomes o;
  auto& answers = x.shared<atomic<std::uint32_t>>();
  std::uint32_t dead = 0;
  w.on_event = [&](device_event const& r) {
    dead += r.kind == event_kind::dead_letter;
    if (r.kind == event_kind::depths || r.kind == event_kind::terminated)
      answers.fetch_add(1, memory_order::acq_rel);
  };
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender", [&] {
    w.send_all(0, first, 1);
    send_until_gone(w, second, 0, 1, o);
  });
  x.thread("host", [&] {
    scheduler sched{w.arena()};
    x.require(sched.signal(second, control), "it lives");
    while (answers.load(memory_order::acquire) == 0) relax();
    while (o.accepted + o.gone < 1 || w.ended + dead < 1 + o.accepted) relax();
    w.stop();
  });
  x.run();
  auto const t = w.totals(1);
  x.require(t.accepted == o.accepted && t.accepted == t.handled + t.dead, "accepted = handled + dead");
}
void inspect_meets_ring(execution& x) { control_meets_ring(x, control_inspect); }
void drain_meets_ring(execution& x) { control_meets_ring(x, control_drain); }

/// A sender that found the mailbox full is notified when there is room.
void room_is_told(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}, 3};
  auto const id = launch_in<receiver>(w, 0, 1);
  auto& rooms = x.shared<atomic<std::uint32_t>>();
  w.on_event = [&](device_event const& r) {
    if (r.kind != event_kind::room) return;
    rooms.fetch_add(1, memory_order::release);
    wake_word(rooms, 1);
  };
  w.team_thread(0);
  x.thread("sender", [&] {
    scheduler sched{w.arena()};
    for (std::uint32_t n = 0; n < 3;) {
      auto const before = rooms.load(memory_order::acquire);
      note const body{0, n};
      auto const outcome = sched.post(id, note_header(), &body, sizeof body, true);
      if (outcome == errc::ok)
        ++n;
      else
        wait_word(rooms, before, ~0ull);  // forever, if there is no notification
    }
  });
  x.run();
  w.require_at_rest(0, 3);
}

/// A handler that fails: the message waits for the restarted actor and is then handled once.
void restart(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 2, .heap_bytes = 256}, 2};
  auto const id = launch_in<fragile>(w, 0, 2);
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender", [&] { w.send_all(0, id, 2); });
  x.run();
  w.require_at_rest(0, 2);
  x.require(w.totals(0).failures == 2, "each note failed once");
}

/// An actor fails when it goes on, and its rule stops it: it ends, though no mail comes that would have it run again.
void stops_when_it_goes_on(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 2, .heap_bytes = 256}, ~0u};
  auto s = w.spec(0, 2);
  s.behaviour = behaviours::index_of<quitter>();
  s.supervise.rule = on_failure::stop;
  {
    scheduler sched{w.arena()};
    launch_actor<behaviours>(sched, s);
  }
  outcomes o;
  w.on_event = [&](device_event const& r) {
    if (r.kind == event_kind::terminated) w.stop();  // forever, if it does not end
  };
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender", [&] { send_until_gone(w, s.id, 0, 2, o); });
  x.run();
  auto const t = w.totals(0);
  x.require(t.accepted == o.accepted && t.accepted == t.handled + t.dead, "accepted = handled + dead");
}

/// An actor is watched while it ends: the watcher hears of it once, whichever comes first. The host does what
/// runtime/core/actor_requests.cpp does: an actor that ends leaves the directory, then its end is queued behind the
/// requests.
void watch_against_end(execution& x) {
  team_world w{x, {.actors = 2, .rings = 2, .ring_slots = 2, .teams = 2, .heap_bytes = 1024}, 2};
  auto const id = launch_in<watcher>(w, 0, 2);
  auto const other = launch_in<receiver>(w, 1, 2);
  bool is_listed = true;
  std::vector<device_event> arrived;
  auto& arrivals = x.shared<atomic<std::uint32_t>>();
  w.on_event = [&](device_event const& r) {
    if (r.kind != event_kind::terminated && r.kind != event_kind::bond) return;
    if (r.kind == event_kind::terminated) is_listed = false;
    arrived.push_back(r);
    arrivals.fetch_add(1, memory_order::release);
  };
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender", [&] { w.send_all(0, id, 1); });
  x.thread("host", [&] {
    scheduler sched{w.arena()};
    bool is_watched = false;
    auto const tell = [&] {
      rondo::ended const body{other, errc::ok};
      message_header const h{.type = type_id<rondo::ended>};
      while (sched.post(id, h, &body, sizeof body) != errc::ok) relax();
    };
    x.require(sched.signal(other, control_discard), "it lives");
    for (std::uint32_t n = 0; n < 2; ++n) {
      while (arrivals.load(memory_order::acquire) == n) relax();
      bool const is_end = arrived[n].kind == event_kind::terminated;
      bool const lasts = is_listed || arrivals.load(memory_order::acquire) > n + 1;  // or its end follows
      if (is_end ? is_watched : !lasts) tell();
      is_watched = !is_end && lasts;
    }
  });
  x.run();
  w.require_at_rest(0, 2);
}

}  // namespace

std::vector<scenario> lifecycle_scenarios() {
  return {
      {"launch", "an actor is gone until it is there, and then whole", launch_against_sender, bounds{2, 1}},
      {"generation_wraps", "a ref reaches its own generation alone", generation_wraps, bounds{3, 2}},
      {"inspect_meets_ring", "what an actor reports counts mail that came while it was run",
       inspect_meets_ring},
      {"drain_meets_ring", "an actor that ends counts mail that came while it was run", drain_meets_ring},
      {"drain", "a drained actor handles what it accepted; its successor gets none of it",
       drain_against_sender},
      {"discard", "each note of a discarded actor is handled or dead", discard_against_sender},
      {"pinned_between_others",
       "a pinned actor is run by its own team alone, and leaves no mark for its successor",
       pinned_between_others, bounds{2, 0}, bounds{1, 0}},
      {"pause", "a deactivated actor keeps its mail, and is not run", pause_against_sender, bounds{2, 1},
       bounds{1, 1}},
      {"signal", "each control operation is obeyed", signal_at_the_last_moment, bounds{2, 0}, bounds{1, 1}},
      {"signal_twice", "control that comes while control is obeyed is not forgotten", signal_twice,
       bounds{2, 0, 1}, bounds{1, 0, 1}},
      {"room", "who found the mailbox full is told of room", room_is_told, bounds{2, 1}, bounds{1, 1}},
      {"watch", "who watches an actor hears once of its end, and finds it gone", watch_against_end,
       bounds{2, 0}, bounds{1, 0}},
      {"stops_going_on", "an actor that fails when it goes on, and is to be stopped, ends",
       stops_when_it_goes_on, bounds{2, 1}, bounds{1, 1}},
      {"restart", "a message that failed its actor is tried again, once", restart, bounds{2, 1},
       bounds{1, 1}},
  };
}

}  // namespace model
