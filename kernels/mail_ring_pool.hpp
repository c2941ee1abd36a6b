// The stack of shared mail rings that no actor holds at present.
//
// Lock-free; any thread. The head carries a tag against reuse (ABA).
// Ordering: `push` releases the ring's saved ticket and its slots, `pop` acquires them.
#pragma once

#include "kernels/arena.hpp"

namespace rondo {

/// A ring that nobody holds, or 0 when there is none.
RONDO_HD inline std::uint32_t pop_free_ring(arena_ref const& arena) noexcept {
  auto& stack = arena.header().free_rings;
  auto head = stack.load(memory_order::acquire);
  for (;;) {
    auto const id = static_cast<std::uint32_t>(head);
    if (id == 0) return 0;
    auto const next =
        arena.ring(id).next.load(memory_order::relaxed);  // relaxed: the tag rejects a stale value
    auto const tagged = ((head >> 32) + 1) << 32 | next;
    if (stack.compare_exchange(head, tagged, memory_order::acquire, memory_order::acquire)) {
      arena.header().free_ring_count.fetch_sub(1, memory_order::relaxed);  // relaxed: a hint
      return id;
    }
  }
}

/// Gives `id` back. Precondition: the caller owned it and has saved its tail; all its messages were taken.
RONDO_HD inline void push_free_ring(arena_ref const& arena, std::uint32_t id) noexcept {
  auto& stack = arena.header().free_rings;
  auto head = stack.load(memory_order::relaxed);  // relaxed: only its value is used
  for (;;) {
    arena.ring(id).next.store(static_cast<std::uint32_t>(head), memory_order::relaxed);
    auto const tagged = ((head >> 32) + 1) << 32 | id;
    // acq_rel: releases this ring; acquires so that earlier rings' releases stay visible through our
    // exchange.
    if (stack.compare_exchange(head, tagged, memory_order::acq_rel, memory_order::relaxed)) break;
  }
  arena.header().free_ring_count.fetch_add(1, memory_order::relaxed);
}

/// Whether an actor that runs out of mail should give its ring back at once: when at most a quarter is
/// free and there are more actors than rings. Otherwise it keeps it, which makes its next message cheaper.
RONDO_HD inline bool rings_are_scarce(arena_ref const& arena) noexcept {
  auto const& shape = arena.shape();
  return shape.rings < shape.actors &&
         arena.header().free_ring_count.load(memory_order::relaxed) <= shape.rings / 4;  // relaxed: a hint
}

}  // namespace rondo
