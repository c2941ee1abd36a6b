// The free stack of shared mail rings.
//
// Threads: lock-free, any thread. The head carries a tag against reuse (ABA).
// R-count: `free_ring_count` is at least the number of free rings, and exact while no thread pushes or pops. So the
// last actor that took a ring finds the count low when it runs out of mail, and gives the ring back. (A count below
// zero would read as plenty, and actors without mail could keep every ring forever.) Relaxed is enough: the count has
// one modification order, and the owner reads the count after the changes for its own ring.
// Ordering: `push` releases the ring's saved ticket and its slots, `pop` acquires them.
#pragma once

#include "kernels/mail/arena.hpp"

namespace rondo {

/// Pops a free ring; 0 if there is none.
RONDO_HD inline std::uint32_t pop_free_ring(arena_ref const& arena) noexcept {
  auto& stack = arena.header().free_rings;
  auto head = stack.load(memory_order::acquire);
  for (;;) {
    auto const id = static_cast<std::uint32_t>(head);
    if (id == 0) return 0;
    auto const next =
        arena.ring(id).next.load(memory_order::relaxed);  // relaxed: the tag rejects a stale value
    auto const tagged = ((head >> 32) + 1) << 32 | next;
    // Relaxed: the head carries a tag, so what the load acquired is what the exchange takes.
    if (stack.compare_exchange(head, tagged, memory_order::relaxed, memory_order::acquire)) {
      arena.header().free_ring_count.fetch_sub(1, memory_order::relaxed);  // R-count: after the pop
      return id;
    }
  }
}

/// Gives `id` back. Precondition: the caller owns it and has saved its tail; all its messages have been taken.
RONDO_HD inline void push_free_ring(arena_ref const& arena, std::uint32_t id) noexcept {
  arena.header().free_ring_count.fetch_add(1, memory_order::relaxed);  // R-count: before the push
  auto& stack = arena.header().free_rings;
  auto head = stack.load(memory_order::relaxed);  // relaxed: only its value is used
  for (;;) {
    arena.ring(id).next.store(static_cast<std::uint32_t>(head), memory_order::relaxed);
    auto const tagged = ((head >> 32) + 1) << 32 | id;
    // Release: this ring. The rings below stay released: exchanges continue the release sequences of earlier ones.
    if (stack.compare_exchange(head, tagged, memory_order::release, memory_order::relaxed)) break;
  }
}

/// Whether an actor that runs out of mail should give its ring back at once: at most a quarter of the rings are
/// free, and there are more actors than rings. Otherwise it keeps the ring, which makes its next message cheaper.
RONDO_HD inline bool rings_are_scarce(arena_ref const& arena) noexcept {
  auto const& shape = arena.shape();
  return shape.rings < shape.actors &&
         arena.header().free_ring_count.load(memory_order::relaxed) <= shape.rings / 4;  // relaxed: a hint
}

/// Whether a team may keep a ring from one actor to the next. With a ring for every actor, there must be one more for
/// every team; with fewer rings, they must not be scarce.
RONDO_HD inline bool rings_are_plenty(arena_ref const& arena) noexcept {
  auto const& shape = arena.shape();
  return shape.rings < shape.actors ? !rings_are_scarce(arena) : shape.rings - shape.actors >= shape.teams;
}

}  // namespace rondo
