// The ready queue alone, the stack of free rings alone, and the choice by priority while messages arrive.
#include "tests/model/scenarios.hpp"
#include "tests/model/team_world.hpp"

namespace model {

namespace {

/// A queue of two or four entries, across the overflow of its positions, for three actors.
struct small_queue {
  struct shared_queue {
    ready_positions positions;
    ready_entry entries[4];
    std::uint32_t
        seen[3];  // every thread that pops an actor writes here: two threads that pop the same one race
    std::uint32_t left_by_pusher[3];
    team_shared lanes;
  };

  explicit small_queue(execution& in, std::uint32_t entries = 2)
      : x(in), q(in.shared<shared_queue>()), size(entries) {
    std::uint32_t const first = ~0u;
    q.positions.head.store(first, memory_order::relaxed);
    q.positions.tail.store(first, memory_order::relaxed);
    for (std::uint32_t p = first; p != first + size; ++p)
      q.entries[p & (size - 1)].sequence.store(p - (p & (size - 1)), memory_order::relaxed);
  }
  ready_queue_ref ref() { return {&q.positions, q.entries, size}; }
  void push(std::uint32_t actor) {
    q.left_by_pusher[actor] = actor + 10;
    ref().push(actor);
  }
  void note_popped(std::uint32_t actor) {
    x.require(actor < 3 && q.left_by_pusher[actor] == actor + 10,
              "what was pushed comes out, and its pusher's writes");
    x.require(q.seen[actor]++ == 0, "each once");
    ++popped;
  }
  void pop_all() {
    while (popped < 3) {
      std::uint32_t actor = 0;
      if (ref().try_pop(actor))
        note_popped(actor);
      else
        relax();
    }
  }

  execution& x;
  shared_queue& q;
  std::uint32_t const size;
  std::uint32_t popped = 0;
};

/// Two pushers and two poppers.
void ready_queue_two_by_two(execution& x) {
  small_queue q{x};
  auto const push = [&](std::uint32_t actor) { q.push(actor); };
  auto const pop = [&] { q.pop_all(); };
  x.thread("pusher 0", [&] {
    push(0);
    push(1);
  });
  x.thread("pusher 1", [&] { push(2); });
  x.thread("popper 0", pop);
  x.thread("popper 1", pop);
  x.run();
}

/// Lanes that take what is in front, up to the first actor that they do not take, beside a pusher and a popper.
void ready_queue_by_lanes(execution& x) {
  small_queue q{x};
  q.push(0);
  q.push(1);
  for (std::uint32_t l = 0; l < 3; ++l)
    x.thread("lane", [&, l] {
      team const t{0, l, 3, q.q.lanes};
      std::uint32_t actor = 0;
      if (!q.ref().try_pop_by_lanes(t, actor, [](std::uint32_t a) { return a != 2; })) return;
      x.require(actor != 2, "only what the lanes take");
      q.note_popped(actor);
    });
  x.thread("pusher", [&] { q.push(2); });
  x.thread("popper", [&] { q.pop_all(); });
  x.run();
}

/// Lanes do not take what stands behind an actor that they leave.
void lanes_stop(execution& x) {
  small_queue q{x, 4};
  for (std::uint32_t actor = 0; actor < 3; ++actor) q.push(actor);
  for (std::uint32_t l = 0; l < 4; ++l)
    x.thread("lane", [&, l] {
      team const t{0, l, 4, q.q.lanes};
      std::uint32_t actor = 0;
      if (q.ref().try_pop_by_lanes(t, actor, [](std::uint32_t a) { return a != 1; })) q.note_popped(actor);
    });
  x.thread("popper", [&] { q.pop_all(); });
  x.run();
}

/// Lanes of which one takes positions for all (hardware::take_number): each puts its actor where it belongs, in any
/// order, beside another pusher and poppers.
void pushed_together(execution& x) {
  small_queue q{x};
  auto const ref = q.ref();
  auto const first = q.q.positions.tail.fetch_add(2, memory_order::relaxed);
  for (std::uint32_t actor = 0; actor < 2; ++actor)
    x.thread("lane", [&, actor] {
      q.q.left_by_pusher[actor] = actor + 10;
      ref.put(first + actor, actor);
    });
  x.thread("pusher", [&] { q.push(2); });
  x.thread("popper", [&] { q.pop_all(); });
  x.run();
}

/// A thread that takes a ring has it alone and sees the writes of its last holder, and no ring is lost; across the
/// tag's overflow.
void free_rings(execution& x) {
  arena_world w{x, {.actors = 1, .rings = 2, .ring_slots = 2, .teams = 1, .heap_bytes = 256}};
  w.arena().header().free_rings.store(std::uint64_t{0xffff'fffe} << 32 | 1, memory_order::relaxed);
  for (int t = 0; t < 3; ++t)
    x.thread("holder", [&] {
      for (int n = 0; n < 2; ++n) {
        std::uint32_t id = 0;
        while ((id = pop_free_ring(w.arena())) == 0) relax();
        auto const count = w.arena().header().free_ring_count.load(memory_order::relaxed);
        x.require(count <= 2 + 3, "the count of free rings never falls below zero");
        ++w.arena().ring(id).tail;  // not atomic and watched: two holders race
        push_free_ring(w.arena(), id);
      }
    });
  x.run();
  x.require(w.arena().ring(1).tail + w.arena().ring(2).tail == 6, "each use is seen");
  x.require(w.arena().header().free_ring_count.load(memory_order::relaxed) == 2, "both are free again");
}

/// Urgent notes behind ordinary ones, and an owner that picks by exact priority while they arrive.
void late_arrivals(execution& x) {
  arena_world w{
      x, {.actors = 1, .rings = 1, .ring_slots = 4, .teams = 1, .heap_bytes = 256}, ticket_mask - 1};
  auto const id = w.launch(0, 4);
  auto& urgent_sent = x.shared<atomic<std::uint32_t>>();
  x.thread("sender", [&] {
    scheduler sched{w.arena()};
    for (std::uint32_t n = 0; n < 3; ++n) {
      while (post(sched, id, {0, n}) != errc::ok) relax();
      while (post(sched, id, {1, n}, 255) != errc::ok) relax();
      urgent_sent.store(n + 1, memory_order::release);
    }
  });
  x.thread("owner", [&] {
    scheduler sched{w.arena(), true};
    while (!sched.claim(0, actor_word::queued_mask)) relax();
    owned_mail mail{sched, 0};
    ledger book;
    while (book.taken < 6) {
      auto const urgent_before = urgent_sent.load(memory_order::acquire);
      note n{};
      std::uint8_t priority = 0;
      bool const urgent_waits = urgent_before > book.next[1];
      bool const any = mail.try_take(n, priority);
      x.require(!urgent_waits || (any && priority == 255), "an urgent note that was sent is taken first");
      if (any)
        book.enter(x, n);
      else
        relax();
    }
  });
  x.run();
}

/// Two lanes write an urgent batch, the later note perhaps first, behind an ordinary note that may be unwritten.
void urgent_batch(execution& x) {
  arena_world w{x, {.actors = 1, .rings = 1, .ring_slots = 4, .teams = 1, .heap_bytes = 256}, ticket_mask};
  auto const id = w.launch(0, 4);
  auto& is_reserved = x.shared<atomic<std::uint32_t>>();
  reservation batch;
  auto const write = [&](std::uint32_t number) {
    note const n{1, number};
    fill(batch.ring, batch.ticket + number, note_header(255), &n, sizeof n);
  };
  x.thread("ordinary", [&] {
    scheduler sched{w.arena()};
    x.require(post(sched, id, {0, 0}) == errc::ok, "there is room");
  });
  x.thread("lane 0", [&] {
    sender from;
    while ((batch = reserve(w.arena(), id, 255, 2, false, from)).status != errc::ok) relax();
    if (from.spare_ring != 0) push_free_ring(w.arena(), from.spare_ring);
    announce_priority(w.arena().owner_of(0), batch.ring, batch.ticket, 2);
    is_reserved.store(1, memory_order::release);
    write(1);
  });
  x.thread("lane 1", [&] {
    while (is_reserved.load(memory_order::acquire) == 0) relax();
    write(0);
  });
  x.thread("owner", [&] {
    scheduler sched{w.arena(), true};
    while (!sched.claim(0, 0)) relax();
    owned_mail mail{sched, 0};
    ledger book;
    while (book.taken < 3) {
      note n{};
      if (mail.try_take(n))
        book.enter(x, n);
      else
        relax();
    }
  });
  x.run();
}

/// An actor with ordinary mail is last in its band when urgent mail arrives: every team that looks for work after the
/// urgent note was sent serves it before the actors that were queued before it.
void urgent_band(execution& x) {
  team_world w{x, {.actors = 3, .rings = 3, .ring_slots = 4, .teams = 1, .quota = 1, .heap_bytes = 512}, 6};
  auto const urgent = launch_in<receiver>(w, 2, 4);
  scheduler before{w.arena()};
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto const busy = launch_in<receiver>(w, i, 4);
    for (std::uint32_t n = 0; n < 2; ++n) x.require(post(before, busy, {0, n}) == errc::ok, "there is room");
  }
  x.require(post(before, urgent, {0, 0}) == errc::ok, "there is room");
  auto& sent = x.shared<atomic<std::uint32_t>>();
  bool was_sent = false, served = false;
  w.on_note = [&](note n) {
    served = served || n.sender == 1;
    x.require(!was_sent || served, "the urgent note is next");
    was_sent = was_sent || sent.load(memory_order::acquire) != 0;
  };
  x.thread("sender", [&] {
    w.send_all(1, urgent, 1, 255);
    sent.store(1, memory_order::release);
  });
  w.team_thread(0);
  x.run();
  for (std::uint32_t i = 0; i < 3; ++i) w.require_at_rest(i, 2);
}

/// An urgent note arrives while the owner is about to release the actor, and another team finds it queued but running:
/// the last of them leaves it in the urgent band. Owner and team are written by hand.
void urgent_while_running(execution& x) {
  arena_world w{x, {.actors = 1, .rings = 1, .ring_slots = 4, .teams = 2, .heap_bytes = 256}};
  auto const id = w.launch(0, 4);
  scheduler before{w.arena()};
  for (std::uint32_t n = 0; n < 2; ++n) x.require(post(before, id, {0, n}) == errc::ok, "there is room");
  std::uint32_t ordinary_taken = 0;
  x.thread("owner", [&] {
    scheduler sched{w.arena()};
    std::uint32_t index = 0;
    if (!sched.next(index)) return;  // the other team owns it
    owned_mail mail{sched, index};
    note n{};
    x.require(mail.try_take(n), "two were there before");
    ordinary_taken = n.sender == 0;
    auto totals = w.arena().owner_of(index).totals.own();
    sched.release(index, totals);
  });
  x.thread("other team", [&] {
    scheduler sched{w.arena()};
    std::uint32_t index = 0;
    if (!sched.next(index)) return;
    auto totals = w.arena().owner_of(index).totals.own();
    sched.release(index, totals);  // without taking any mail
  });
  x.thread("sender", [&] {
    scheduler sched{w.arena()};
    x.require(post(sched, id, {1, 0}, 255) == errc::ok, "there is room");
  });
  x.run();
  actor_word const word{w.arena().cell(0).word.load(memory_order::relaxed)};
  x.require(!word.has(actor_word::running), "nobody runs it");
  x.require(ordinary_taken == 0 || word.has(actor_word::queued_in(0)),
            "urgent mail waits in the urgent band");
}

}  // namespace

std::vector<scenario> queue_scenarios() {
  return {
      {"ready_queue", "two pushers, two poppers: each actor comes out once, with its pusher's writes",
       ready_queue_two_by_two, bounds{2, 1}, bounds{1, 1}},
      {"ready_queue_by_lanes",
       "lanes that take several at once: each actor comes out once, and none that they leave",
       ready_queue_by_lanes, bounds{2, 1}, bounds{1, 0}},
      {"lanes_stop", "the same of lanes that leave the second actor, and so do not take the third",
       lanes_stop, bounds{2, 1}, bounds{1, 0}},
      {"pushed_together", "actors of lanes that take their positions at once: each comes out once",
       pushed_together, bounds{2, 1}, bounds{1, 1}},
      {"free_rings", "a ring has one holder, who sees what the last one left", free_rings, bounds{2, 1},
       bounds{1, 1}},
      {"late_arrivals", "no ordinary note overtakes an urgent one that was sent before the owner looked",
       late_arrivals, bounds{3, 2}, bounds{2, 1}},
      {"urgent_batch", "the notes of an urgent batch come in their order, whichever lane writes first",
       urgent_batch, bounds{2, 1}, bounds{1, 1}},
      {"urgent_while_running", "an actor that is let go with urgent mail stands in the urgent band",
       urgent_while_running, bounds{3, 2}, bounds{2, 1}},
      {"urgent_band", "an actor with urgent mail is served before those that stood in front of it",
       urgent_band, bounds{2, 1}},
  };
}

}  // namespace model
