// Senders and the owner of one mailbox; the rings that mailboxes share.
#include "tests/model/arena_world.hpp"
#include "tests/model/scenarios.hpp"

namespace model {

namespace {

/// An owner takes `all` notes while it owns the actor; then the mailbox must be empty.
void take_all(execution& x, scheduler& sched, std::uint32_t index, ledger& book, std::uint32_t all) {
  owned_mail mail{sched, index};
  note n{};
  while (book.taken < all) {
    if (mail.try_take(n))
      book.enter(x, n);
    else
      relax();
  }
  x.require(!mail.try_take(n), "a note was delivered twice");
}

void two_senders(execution& x, std::uint32_t first_ticket) {
  arena_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}, first_ticket};
  auto const id = w.launch(0, 2);
  auto& book = x.shared<ledger>();
  static constexpr std::uint32_t each = 2;
  for (std::uint32_t s = 0; s < 2; ++s)
    x.thread(s == 0 ? "sender 0" : "sender 1", [&w, id, s] {
      scheduler sched{w.arena()};
      for (std::uint32_t n = 0; n < each;) {
        if (post(sched, id, {s, n}) == errc::ok)
          ++n;
        else
          relax();
      }
    });
  x.thread("owner", [&] {
    scheduler sched{w.arena(), true};
    while (!sched.claim(0, actor_word::queued_mask)) relax();
    take_all(x, sched, 0, book, 2 * each);
  });
  x.run();
}
void two_senders_from_zero(execution& x) { two_senders(x, 0); }
void two_senders_across_overflow(execution& x) { two_senders(x, ticket_mask - 1); }

/// Capacity 1 in a ring of 2: the second note fits only after the first was taken, and full is returned only if the
/// mailbox is full.
void full_is_honest(execution& x) {
  arena_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}};
  auto const id = w.launch(0, 1);
  auto& given_back = x.shared<atomic<std::uint32_t>>();
  auto& book = x.shared<ledger>();
  x.thread("sender", [&] {
    scheduler sched{w.arena()};
    for (std::uint32_t n = 0; n < 3;) {
      auto const taken_before = given_back.load(memory_order::acquire);
      auto const outcome = post(sched, id, {0, n});
      x.require(outcome == errc::ok || outcome == errc::mailbox_full, "nothing but full stands in the way");
      // The only earlier note had been released before we asked.
      x.require(outcome == errc::ok || taken_before < n, "full was said of an empty mailbox");
      if (outcome == errc::ok)
        ++n;
      else
        relax();
    }
  });
  x.thread("owner", [&] {
    scheduler sched{w.arena(), true};
    while (!sched.claim(0, actor_word::queued_mask)) relax();
    owned_mail mail{sched, 0};
    note n{};
    while (book.taken < 3) {
      if (!mail.try_take(n)) {
        relax();
        continue;
      }
      book.enter(x, n);
      given_back.store(book.taken, memory_order::release);
    }
  });
  x.run();
}

/// A batch is delivered whole and in a row, even with another sender.
void batch_stays_together(execution& x) {
  arena_world w{x, {.actors = 1, .rings = 1, .ring_slots = 4, .teams = 1, .heap_bytes = 256}, ticket_mask};
  auto const id = w.launch(0, 4);
  auto& book = x.shared<ledger>();
  x.thread("batch", [&] {
    scheduler sched{w.arena()};
    note const notes[2] = {{0, 0}, {0, 1}};
    while (post_batch(sched, id, notes) != errc::ok)
      relax();  // the other sender may hold the ring for a moment
  });
  x.thread("single", [&] {
    scheduler sched{w.arena()};
    while (post(sched, id, {1, 0}) != errc::ok) relax();
  });
  x.thread("owner", [&] {
    scheduler sched{w.arena(), true};
    while (!sched.claim(0, actor_word::queued_mask)) relax();
    owned_mail mail{sched, 0};
    note n{};
    bool inside = false;
    while (book.taken < 3) {
      if (!mail.try_take(n)) {
        relax();
        continue;
      }
      x.require(!inside || n.sender == 0, "a note came between those of a batch");
      inside = n.sender == 0 && n.number == 0;
      book.enter(x, n);
    }
  });
  x.run();
}

/// Takes the mail of a ready actor, and releases it.
void serve_next(execution& x, scheduler& sched, ledger& book) {
  std::uint32_t index = 0;
  if (!sched.next(index)) return;
  owned_mail mail{sched, index};
  note n{};
  while (mail.try_take(n)) book.enter(x, n);
  auto totals = sched.arena().owner_of(index).totals.own();
  sched.release(index, totals);
}

/// Two senders, and room for both: the slot that one of them checks may already belong to the other.
void room_for_both(execution& x) {
  arena_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}};
  auto const id = w.launch(0, 2);
  auto& book = x.shared<ledger>();
  scheduler before{w.arena()};
  x.require(post(before, id, {2, 0}) == errc::ok, "there is room");
  serve_next(x, before, book);
  for (std::uint32_t s = 0; s < 2; ++s)
    x.thread(s == 0 ? "sender 0" : "sender 1", [&, s] {
      scheduler sched{w.arena()};
      x.require(post(sched, id, {s, 0}) == errc::ok, "full was said of a mailbox with room for two");
    });
  x.run();
}

/// Of two slots one is taken: a batch of two is refused, and that takes no room from a single note, not for a moment.
void refusal_takes_no_room(execution& x) {
  arena_world w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}};
  auto const id = w.launch(0, 2);
  scheduler before{w.arena()};
  x.require(post(before, id, {0, 0}) == errc::ok, "there is room");
  x.thread("batch", [&] {
    scheduler sched{w.arena()};
    note const notes[2] = {{1, 0}, {1, 1}};
    x.require(post_batch(sched, id, notes) == errc::mailbox_full, "there is room for one at most");
  });
  x.thread("single", [&] {
    scheduler sched{w.arena()};
    x.require(post(sched, id, {2, 0}) == errc::ok, "full was said of a mailbox with room for one");
  });
  x.run();
}

/// With fewer rings than actors, one that has no mail gives its ring back, also while a sender finds out that there is
/// no room for a batch.
void refusal_keeps_no_ring(execution& x) {
  arena_world w{x, {.actors = 2, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 512}};
  auto const id = w.launch(0, 2);
  auto& book = x.shared<ledger>();
  scheduler before{w.arena()};
  x.require(post(before, id, {0, 0}) == errc::ok, "there is room");
  auto& outcome = x.shared<errc>();
  x.thread("batch", [&] {
    scheduler sched{w.arena()};
    note const notes[2] = {{1, 0}, {1, 1}};
    outcome = post_batch(sched, id, notes);
  });
  x.thread("owner", [&] {
    scheduler sched{w.arena(), true};
    serve_next(x, sched, book);
    sched.share_all();
  });
  x.run();
  x.require(outcome == errc::ok || outcome == errc::mailbox_full, "nothing but full stands in the way");
  auto const free = w.arena().header().free_ring_count.load(memory_order::relaxed);
  x.require(book.taken < (outcome == errc::ok ? 3u : 1u) || free == 1, "who has no mail holds no ring");
}

/// Of two slots, one is reserved: the urgent sender finds it, whatever two others do at that time.
void room_is_reserved(execution& x) {
  arena_world w{x, {.actors = 1, .rings = 3, .ring_slots = 2, .teams = 1, .heap_bytes = 256}};
  auto spec = w.spec(0, 2);
  spec.reserve = {.slots = 1, .from = 200};
  scheduler before{w.arena()};
  launch_actor<module_of<taker>>(before, spec);
  auto& accepted = x.shared<atomic<std::uint32_t>>();
  for (std::uint32_t s = 0; s < 2; ++s)
    x.thread(s == 0 ? "sender 0" : "sender 1", [&, s] {
      scheduler sched{w.arena()};
      if (post(sched, spec.id, {s, 0}, 199) == errc::ok) accepted.fetch_add(1, memory_order::relaxed);
    });
  x.thread("urgent sender", [&] {
    scheduler sched{w.arena()};
    x.require(post(sched, spec.id, {2, 0}, 200) == errc::ok, "the reserved slot is free");
  });
  x.run();
  x.require(accepted.load(memory_order::relaxed) <= 1, "the other slot was taken once");
}

/// Between a sender's load of the word and its exchange the actor returns its ring, and gets another one that was used
/// elsewhere: the sender uses that ring in the state in which its last holder left it.
void ring_changes_under_sender(execution& x) {
  arena_world w{x, {.actors = 3, .rings = 2, .ring_slots = 2, .teams = 1, .heap_bytes = 512}};
  auto const other = w.launch(0, 2), target = w.launch(1, 2);
  auto& book = x.shared<ledger>();
  x.thread("mover", [&] {
    scheduler sched{w.arena()};
    auto const first = pop_free_ring(w.arena());
    if (first == 0 || post(sched, target, {0, 0}) != errc::ok) return;  // the sender was faster
    serve_next(x, sched, book);
    auto const second = pop_free_ring(w.arena());
    push_free_ring(w.arena(), first);
    for (std::uint32_t n = 0; n < 2; ++n)
      if (post(sched, other, {1, n}) != errc::ok) return;
    serve_next(x, sched, book);
    post(sched, target, {0, 1});  // with the first ring, which has been used
    if (second != 0) push_free_ring(w.arena(), second);
  });
  x.thread("sender", [&] {
    scheduler sched{w.arena()};
    x.require(post(sched, target, {2, 0}) != errc::mailbox_full, "two notes fit, and one at most was there");
  });
  x.run();
}

}  // namespace

std::vector<scenario> mailbox_scenarios() {
  return {
      {"mailbox", "two senders and an owner: no note is lost, doubled or overtaken", two_senders_from_zero,
       bounds{2, 1}},
      {"mailbox_overflow", "the same while the tickets overflow", two_senders_across_overflow, bounds{2, 1}},
      {"mailbox_full", "full is said only of a mailbox that was full", full_is_honest, bounds{3, 1}},
      {"room_for_both", "two senders of which each finds room are told so", room_for_both, bounds{3, 2}},
      {"refused_batch", "a batch that is refused takes no room from others", refusal_takes_no_room,
       bounds{3, 2}},
      {"refused_keeps_no_ring", "a batch that is refused leaves no ring with an actor without mail",
       refusal_keeps_no_ring, bounds{3, 1}},
      {"reserved_room", "an urgent sender finds the slot that others may not take", room_is_reserved,
       bounds{2, 1}},
      {"ring_changes", "a sender whose target changed its ring meanwhile is not told full",
       ring_changes_under_sender, bounds{2, 1}, bounds{2, 1}},
      {"mailbox_batch", "the notes of a batch stay together", batch_stays_together, bounds{2, 1}},
  };
}

}  // namespace model
