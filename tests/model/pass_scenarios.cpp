// What a team does most: an actor sends to an idle one, which gets the ring that the last one left, and is idle itself.
#include "tests/model/scenarios.hpp"
#include "tests/model/team_world.hpp"

namespace model {

namespace {

/// A ring for each actor and for each team: so a team keeps the ring of an actor that it has made ready itself.
arena_shape enough_rings(std::uint32_t actors, std::uint32_t teams) {
  return {.actors = actors, .rings = actors + teams, .ring_slots = 4, .teams = teams, .heap_bytes = 1024};
}

/// The next actor is idle, or has mail from somebody else, or gets some at this moment. The second note comes with a
/// ring.
void pass_on(execution& x) {
  team_world w{x, enough_rings(2, 1), 5, ticket_mask};
  auto const first = launch_in<relay>(w, 0, 4);
  auto const second = launch_in<receiver>(w, 1, 4);
  w.team_thread(0);
  x.thread("sender 0", [&] { w.send_all(0, first, 2); });
  x.thread("sender 1", [&] { w.send_all(1, second, 1); });
  x.run();
  w.require_at_rest(0, 2);
  w.require_at_rest(1, 3);
}

/// An actor that has got a note and is just being released gets another one.
void passed_on_again(execution& x) {
  team_world w{x, enough_rings(2, 2), 6};
  auto const first = launch_in<relay>(w, 0, 4);
  launch_in<receiver>(w, 1, 4);
  w.team_thread(0);
  w.team_thread(1);
  x.thread("sender", [&] { w.send_all(0, first, 3); });
  x.run();
  w.require_at_rest(0, 3);
  w.require_at_rest(1, 3);
}

/// The same with a command: the report that it asks for arrives.
void pass_is_interrupted(execution& x) {
  team_world w{x, enough_rings(2, 1), ~0u};
  auto const first = launch_in<relay>(w, 0, 4);
  auto const second = launch_in<receiver>(w, 1, 4);
  auto& reports = x.shared<atomic<std::uint32_t>>();
  w.on_event = [&](device_event const& r) {
    if (r.kind == event_kind::depths) reports.fetch_add(1, memory_order::acq_rel);
  };
  w.team_thread(0);
  x.thread("sender", [&] { w.send_all(0, first, 2); });
  x.thread("host", [&] {
    scheduler sched{w.arena()};
    x.require(sched.signal(second, control_inspect), "it lives");
    while (reports.load(memory_order::acquire) < 1) relax();
    while (w.ended < 4) relax();
    w.stop();
  });
  x.run();
  w.require_at_rest(0, 2);
  w.require_at_rest(1, 2);
}

/// The ring has been used before by others, and another sender looks for room in it.
void first_in_second_hand_ring(execution& x) {
  team_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}, ~0u};
  auto const id = launch_in<receiver>(w, 0, 2);
  auto const ring = pop_free_ring(w.arena());
  x.thread("last holder", [&] {
    w.arena().ring_at(ring).give_back(0);  // the first message was taken
    w.arena().ring(ring).set_tail(1);
    push_free_ring(w.arena(), ring);
  });
  x.thread("first sender", [&] {
    while (pop_free_ring(w.arena()) == 0) relax();
    std::uint32_t ticket = 0;
    x.require(reserve_first(w.arena(), id, ring, ticket), "the actor is idle");
    note const n{0, 0};
    fill(w.arena().ring_at(ring), ticket, note_header(), &n, sizeof n);
  });
  x.thread("second sender", [&] {
    while (actor_word{w.arena().cell(0).word.load(memory_order::relaxed)}.ring() == 0) relax();
    scheduler sched{w.arena()};
    x.require(post(sched, id, {1, 0}) == errc::ok, "there is room for two");
  });
  x.run();
}

/// As generation_wraps, for a sender that holds a ring.
void generation_wraps_for_first(execution& x) {
  team_world w{x, enough_rings(1, 1), ~0u};
  auto const spec = w.spec(0, 2, 65);
  w.arena().cell(0).generation.store(1, memory_order::relaxed);  // what the sender may have seen earlier
  x.thread("launcher", [&] {
    scheduler sched{w.arena()};
    launch_actor<behaviours>(sched, spec);
  });
  x.thread("sender", [&] {
    auto const ring = pop_free_ring(w.arena());
    for (std::uint32_t n = 0, ticket = 0; n < 3; ++n)
      x.require(!reserve_first(w.arena(), {0, 1}, ring, ticket), "the ref is of another life");
  });
  x.run();
}

}  // namespace

std::vector<scenario> pass_scenarios() {
  return {
      {"pass", "a message to an idle actor of the same team comes once, whoever else sends to it", pass_on,
       bounds{2, 1}, bounds{1, 1}},
      {"pass_again", "and so does the next one to its sender", passed_on_again, bounds{2, 1}, bounds{1, 1}},
      {"pass_interrupted", "the same when a command comes in between", pass_is_interrupted, bounds{2, 1},
       bounds{1, 1}},
      {"pass_second_hand", "a ring that comes with a message is as its last holder left it",
       first_in_second_hand_ring, bounds{2, 1}, bounds{1, 1}},
      {"pass_wraps", "a ref reaches its own generation alone, also with a ring at hand",
       generation_wraps_for_first, bounds{3, 2}},
  };
}

}  // namespace model
