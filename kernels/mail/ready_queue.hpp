// A bounded queue of actors that have mail: many producers, many consumers, a sequence number per entry.
//
// The algorithm is Dmitry Vyukov's bounded MPMC queue, except that a pusher takes its position by an addition instead
// of a compare-exchange: a band's queue holds an actor at most once (W4), so a queue with an entry per actor is never
// full, and no push ever has to be undone. On a GPU hundreds of lanes push at once; of as many exchanges, one would
// succeed.
//
// Invariants: the entry of slot i = p mod N carries sequence p when it is free for push p, p + 1 when it holds
// push p. The slot's index is subtracted from the stored sequence, so that zeroed memory is an empty queue.
// Ordering
//  hand-over  push's release store of the sequence -> pop's acquire load of it (on a GPU, the fence behind it).
//  reuse      pop's release store of the sequence -> push's acquire load of it.
#pragma once

#include "kernels/base/team.hpp"

namespace rondo {

struct ready_entry {
  atomic<std::uint32_t> sequence;
  atomic<std::uint32_t> actor;  // relaxed: published by the sequence
};

/// Positions of one band's queue. Different threads write them, so each has its own cache line.
struct alignas(64) ready_positions {
  alignas(64) atomic<std::uint32_t> tail;
  alignas(64) atomic<std::uint32_t> head;

  /// A hint: whether a pop would find nothing.
  RONDO_HOT RONDO_HD bool looks_empty() const noexcept {
    return head.load(memory_order::relaxed) == tail.load(memory_order::relaxed);  // relaxed: a hint
  }
  /// A hint: the number of entries.
  RONDO_HD std::uint32_t size() const noexcept {
    return tail.load(memory_order::relaxed) - head.load(memory_order::relaxed);  // relaxed: a hint
  }
};

struct ready_queue_ref {
  ready_positions* positions;
  ready_entry* entries;
  std::uint32_t entry_count;  // a power of two, at least 2, at least the number of actors

  /// If all entries are in use, waits until a popper has given one back. Relaxed: the claim only; the entry is
  /// published by its sequence.
  RONDO_HD void push(std::uint32_t actor) const noexcept {
    put(hardware::take_number(positions->tail), actor);
  }
  /// At a position that was taken; until then, poppers wait.
  RONDO_HD void put(std::uint32_t p, std::uint32_t actor) const noexcept {
    ready_entry& e = entries[p & (entry_count - 1)];
    while (sequence(e, p, memory_order::acquire) != p) relax();  // the edge `reuse`
    e.actor.store(actor, memory_order::relaxed);
    publish(e, p, p + 1);
  }

  /// False if no committed entry is at the front.
  RONDO_HD bool try_pop(std::uint32_t& actor) const noexcept {
    auto p = positions->head.load(memory_order::relaxed);  // relaxed: validated by the entry's sequence
    for (;;) {
      ready_entry& e = entries[p & (entry_count - 1)];
      auto const ahead = static_cast<std::int32_t>(sequence(e, p, polling) - (p + 1));
      if (ahead == 0) {
        acquire_found();
        if (positions->head.compare_exchange(p, p + 1, memory_order::relaxed, memory_order::relaxed)) {
          actor = e.actor.load(memory_order::relaxed);
          give_back(e, p);
          return true;
        }
      } else if (ahead < 0) {
        return false;
      } else {
        p = positions->head.load(memory_order::relaxed);
      }
    }
  }

  /// Of all lanes of a warp, or of a team of host threads: lane i + 1 gets the i-th actor from the front on, as long as
  /// takes(actor), and one exchange takes them all. Lane 0 gets none. False on a lane that gets none.
  template <class Takes>
  RONDO_HD bool try_pop_by_lanes(team const& t, std::uint32_t& actor, Takes const& takes) const noexcept {
    auto const first = t.broadcast(t.leader() ? positions->head.load(memory_order::relaxed) : 0);  // as above
    auto const p = first + t.lane() - 1;
    ready_entry& e = entries[p & (entry_count - 1)];
    bool fits = !t.leader() && sequence(e, p, polling) == p + 1;
    if (fits) {
      acquire_found();
      actor = e.actor.load(memory_order::relaxed);  // if it is another round's, the exchange fails
      fits = takes(actor);
    }
    std::uint32_t const fitting = t.any_bits(std::uint32_t{fits} << t.lane()) >> 1;
    auto const count = trailing_ones(fitting);
    bool taken = false;
    if (t.leader() && count != 0) {
      auto head = first;
      taken =
          positions->head.compare_exchange(head, first + count, memory_order::relaxed, memory_order::relaxed);
    }
    taken = t.broadcast(taken) && fits && t.lane() <= count;
    if (taken) give_back(e, p);
    return taken;
  }

 private:
  RONDO_HD std::uint32_t sequence(ready_entry const& e, std::uint32_t p, memory_order order) const noexcept {
    return e.sequence.load(order) + (p & (entry_count - 1));
  }
  RONDO_HD void give_back(ready_entry& e, std::uint32_t p) const noexcept { publish(e, p, p + entry_count); }
  RONDO_HD void publish(ready_entry& e, std::uint32_t p, std::uint32_t value) const noexcept {
    e.sequence.store(value - (p & (entry_count - 1)), memory_order::release);
  }
};

}  // namespace rondo
