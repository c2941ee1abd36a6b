// Windows of mail: a team copies what waits, and handles it from the copies, while others send, come first, or put the
// actor to sleep. A window begins with the third note of a turn (kernels/mail/mail_window.hpp).
#include "tests/model/scenarios.hpp"
#include "tests/model/team_world.hpp"

namespace model {

namespace {

constexpr std::uint32_t slots = 4;

/// Posts `count` notes of sender 0 before the threads begin.
void fill_mailbox(team_world& w, actor_id to, std::uint32_t count) {
  scheduler before{w.arena()};
  for (std::uint32_t n = 0; n < count; ++n)
    w.x().require(post(before, to, {0, n}) == errc::ok, "there is room");
}

/// Another sender takes the slots that come back one by one.
void window(execution& x) {
  team_world w{x, mailbox_of_four(), slots + 3, ticket_mask - slots};
  auto const id = launch_in<receiver>(w, 0, slots);
  fill_mailbox(w, id, slots);
  w.team_thread(0);
  x.thread("sender", [&] { w.send_all(1, id, 3); });
  x.run();
  w.require_at_rest(0, slots + 3);
}

/// The same for a pinned team.
template <class Behaviour>
void window_of_pinned(execution& x) {
  team_world w{x, mailbox_of_four(), slots + 3, ticket_mask - slots};
  auto const id = launch_in<Behaviour>(w, 0, slots, 0);
  fill_mailbox(w, id, slots);
  w.team_thread(0, true);
  x.thread("sender", [&] { w.send_all(1, id, 3); });
  x.run();
  w.require_at_rest(0, slots + 3);
}

/// An urgent note comes while a window is handled, and an ordinary one of its sender behind it.
void window_is_overtaken(execution& x) {
  team_world w{x, mailbox_of_four(), slots + 1, ticket_mask - 1};
  auto const id = launch_in<receiver>(w, 0, slots);
  fill_mailbox(w, id, slots - 1);
  w.team_thread(0);
  x.thread("sender", [&] {
    scheduler sched{w.arena()};
    while (post(sched, id, {1, 0}, 255) != errc::ok) relax();
    while (post(sched, id, {1, 1}) != errc::ok) relax();
  });
  x.run();
  w.require_at_rest(0, slots + 1);
}

/// An actor sends itself an urgent note for each of a window.
void window_of_hasty(execution& x) {
  constexpr std::uint32_t of_window = 2;
  team_world w{x, mailbox_of_four(), slots + of_window, ticket_mask - 1};
  auto const id = launch_in<hasty>(w, 0, slots);
  fill_mailbox(w, id, slots);
  w.team_thread(0);
  x.run();
  w.require_at_rest(0, slots + of_window);
}

/// The actor is put to sleep while it handles a window, and woken.
void window_is_interrupted(execution& x) {
  team_world w{x, mailbox_of_four(), slots + 1, ticket_mask - 1};
  auto const id = launch_in<receiver>(w, 0, slots);
  fill_mailbox(w, id, slots);
  w.team_thread(0);
  x.thread("sender", [&] { w.send_all(1, id, 1); });
  x.thread("host", [&] {
    scheduler sched{w.arena()};
    x.require(sched.signal(id, control_deactivate), "the actor is there");
    x.require(sched.signal(id, control_activate), "the actor is there");
  });
  x.run();
  w.require_at_rest(0, slots + 1);
}

/// Each note fails at its first try, in a window, too, and comes again.
void window_fails(execution& x) {
  team_world w{x, mailbox_of_four(), slots, ticket_mask - 1};
  auto const id = launch_in<fragile>(w, 0, slots);
  fill_mailbox(w, id, slots);
  w.team_thread(0);
  x.run();
  w.require_at_rest(0, slots);
}

/// An actor restarts while its mail waits.
void window_of_starter(execution& x) {
  team_world w{x, mailbox_of_four(), slots, ticket_mask - 1};
  scheduler sched{w.arena()};
  auto s = w.spec(0, slots);
  s.behaviour = behaviours::index_of<starter>();
  s.supervise.poison_after = 1;
  launch_actor<behaviours>(sched, s);
  fill_mailbox(w, s.id, slots);
  w.team_thread(0);
  x.run();
  auto const t = w.totals(0);
  x.require(t.accepted == slots && t.handled == slots / 2 && t.dead == slots / 2 && t.failures == slots / 2,
            "each note is counted as what became of it");
}

}  // namespace

std::vector<scenario> window_scenarios() {
  return {
      {"window", "each note of a window comes once, in order, and its slot goes back in its turn", window,
       bounds{2, 1}, bounds{1, 1}},
      {"window_of_pinned", "the same for a pinned actor", window_of_pinned<receiver>, bounds{2, 1},
       bounds{1, 1}},
      {"window_of_batches", "the same for a handler of many", window_of_pinned<gatherer>, bounds{2, 1},
       bounds{1, 1}},
      {"window_overtaken", "the same when urgent mail comes in between", window_is_overtaken, bounds{2, 1},
       bounds{1, 1}},
      {"window_of_hasty", "what an actor sends itself urgently comes next", window_of_hasty, bounds{1, 1},
       bounds{1, 1}},
      {"window_interrupted", "the same when a command comes in between", window_is_interrupted, bounds{2, 1},
       bounds{1, 1}},
      {"window_of_starter", "after a restart, on_start comes before the mail that waits", window_of_starter,
       bounds{1, 1}, bounds{1, 1}},
      {"window_fails", "the same when a note fails", window_fails, bounds{1, 1}, bounds{1, 1}},
  };
}

}  // namespace model
