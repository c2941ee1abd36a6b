// Runs: batches that lie in the mailbox as one stream, while others send, come first, or put the actor to sleep.
#include "tests/model/scenarios.hpp"
#include "tests/model/team_world.hpp"

namespace model {

namespace {

constexpr std::uint32_t run_length = 3;  // messages; the longest in a mailbox of four

/// Posts `count` batches of `size` pages as `sender`, each until it is accepted.
template <std::uint32_t size = run_length>
void send_runs(team_world& w, std::uint32_t sender, actor_id to, std::uint32_t count) {
  scheduler sched{w.arena()};
  message_header h;
  h.type = type_id<page>;
  for (std::uint32_t n = 0; n < count;) {
    page pages[size];
    for (std::uint32_t i = 0; i < size; ++i) pages[i] = make_page({sender, n * size + i});
    if (sched.post_batch(to, h, reinterpret_cast<std::byte const*>(pages), sizeof(page), sizeof(page),
                         size) == errc::ok)
      ++n;
    else
      relax();
  }
}

/// A second run takes the slots that the first one gives back one by one.
void runs(execution& x) {
  team_world w{x, mailbox_of_four(), 2 * run_length, ticket_mask - run_length};
  auto const id = launch_in<reader>(w, 0, run_length + 1);
  w.team_thread(0);
  x.thread("sender", [&] { send_runs(w, 0, id, 2); });
  x.run();
  w.require_at_rest(0, 2 * run_length);
}

/// A batch that fills the mailbox.
void run_of_all(execution& x) {
  static constexpr std::uint32_t all = run_length + 1;
  team_world w{x, mailbox_of_four(), 2 * all, ticket_mask - 1};
  auto const id = launch_in<reader>(w, 0, all);
  w.team_thread(0);
  x.thread("sender", [&] { send_runs<all>(w, 0, id, 2); });
  x.run();
  w.require_at_rest(0, 2 * all);
}

/// An urgent note comes while a run is handled; what is left of the run goes to its own slots.
void run_is_overtaken(execution& x) {
  team_world w{x, mailbox_of_four(), run_length + 2, ticket_mask - 1};
  auto const id = launch_in<reader>(w, 0, run_length + 1);
  w.team_thread(0);
  x.thread("sender 0", [&] { send_runs(w, 0, id, 1); });
  x.thread("sender 1", [&] { w.send_all(1, id, 2, 255); });
  x.run();
  w.require_at_rest(0, run_length + 2);
}

/// Another sender's single notes are before and behind a run.
void run_among_notes(execution& x) {
  team_world w{x, mailbox_of_four(), run_length + 2, ticket_mask - 1};
  auto const id = launch_in<reader>(w, 0, run_length + 1);
  w.team_thread(0);
  x.thread("sender 0", [&] { send_runs(w, 0, id, 1); });
  x.thread("sender 1", [&] { w.send_all(1, id, 2); });
  x.run();
  w.require_at_rest(0, run_length + 2);
}

/// A pinned actor's batch handler takes two of a run, then the third.
void run_for_batch_handler(execution& x) {
  team_world w{x, mailbox_of_four(), 2 * run_length, ticket_mask - 1};
  scheduler sched{w.arena()};
  auto s = w.spec(0, run_length + 1);
  s.behaviour = behaviours::index_of<librarian>();
  s.pinned = true;
  s.batch = 2;
  launch_actor<behaviours>(sched, s);
  w.team_thread(0, true);
  x.thread("sender", [&] { send_runs(w, 0, s.id, 2); });
  x.run();
  w.require_at_rest(0, 2 * run_length);
}

/// The actor is put to sleep while it handles a run, and woken.
void run_is_interrupted(execution& x) {
  team_world w{x, mailbox_of_four(), 2 * run_length, ticket_mask - 1};
  auto const id = launch_in<reader>(w, 0, run_length + 1);
  w.team_thread(0);
  x.thread("sender", [&] { send_runs(w, 0, id, 2); });
  x.thread("host", [&] {
    scheduler sched{w.arena()};
    x.require(sched.signal(id, control_deactivate), "the actor is there");
    x.require(sched.signal(id, control_activate), "the actor is there");
  });
  x.run();
  w.require_at_rest(0, 2 * run_length);
}

}  // namespace

std::vector<scenario> run_scenarios() {
  return {
      {"runs", "each message of a run comes once, in order, as it was sent", runs, bounds{2, 1},
       bounds{1, 1}},
      {"run_of_all", "the same of a batch that fills the mailbox", run_of_all, bounds{2, 1}, bounds{1, 1}},
      {"run_overtaken", "the same when urgent mail comes in between", run_is_overtaken, bounds{2, 1},
       bounds{1, 1}},
      {"run_among_notes", "the same with another sender's notes around it", run_among_notes, bounds{2, 1},
       bounds{1, 1}},
      {"run_for_batches", "the same for a batch handler that takes fewer at once", run_for_batch_handler,
       bounds{2, 1}, bounds{1, 1}},
      {"run_interrupted", "the same when a command comes in between", run_is_interrupted, bounds{2, 1},
       bounds{1, 1}},
  };
}

}  // namespace model
