// A bounded queue of actors that have mail: many producers, many consumers, a sequence number per entry.
//
// A band's queue holds an actor at most once (W4), so a queue with an entry per actor never fills up.
// The algorithm is Dmitry Vyukov's bounded MPMC queue.
//
// Invariants: the entry of slot i = p mod N carries sequence p when it is free for push p, p + 1 when it holds
// push p. The slot's index is subtracted from the stored sequence, so that zeroed memory is an empty queue.
// Ordering
//  hand-over  push's release store of the sequence -> pop's acquire load of it (on a GPU, the fence behind it).
//  reuse      pop's release store of the sequence -> push's acquire load of it.
#pragma once

#include "kernels/base/atomic.hpp"

namespace rondo {

struct ready_entry {
  atomic<std::uint32_t> sequence;
  std::uint32_t actor;
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

  /// False if the queue is full, which W4 rules out for actors.
  RONDO_HD bool try_push(std::uint32_t actor) const noexcept {
    auto p = positions->tail.load(memory_order::relaxed);  // relaxed: validated by the entry's sequence
    for (;;) {
      ready_entry& e = entries[p & (entry_count - 1)];
      auto const ahead = static_cast<std::int32_t>(sequence(e, p, memory_order::acquire) - p);  // `reuse`
      if (ahead == 0) {
        // Relaxed: the claim only; the entry is published by its sequence.
        if (positions->tail.compare_exchange(p, p + 1, memory_order::relaxed, memory_order::relaxed)) {
          e.actor = actor;
          publish(e, p, p + 1);
          return true;
        }
      } else if (ahead < 0) {
        return false;
      } else {
        p = positions->tail.load(memory_order::relaxed);
      }
    }
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
          actor = e.actor;
          publish(e, p, p + entry_count);
          return true;
        }
      } else if (ahead < 0) {
        return false;
      } else {
        p = positions->head.load(memory_order::relaxed);
      }
    }
  }

 private:
  RONDO_HD std::uint32_t sequence(ready_entry const& e, std::uint32_t p, memory_order order) const noexcept {
    return e.sequence.load(order) + (p & (entry_count - 1));
  }
  RONDO_HD void publish(ready_entry& e, std::uint32_t p, std::uint32_t value) const noexcept {
    e.sequence.store(value - (p & (entry_count - 1)), memory_order::release);
  }
};

}  // namespace rondo
