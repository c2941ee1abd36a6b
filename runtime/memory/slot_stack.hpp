// A lock-free stack of free slots, threaded through the entries of a buffer table.
//
// **Threads**: any. **Invariants**: a slot is in at most one stack, and only the thread that popped it has it.
// **Ordering**: push -> pop: a push releases and the pop that takes the slot acquires, so the new holder of a
// slot sees everything that the old one did. The head carries a 40-bit count of pops, so a pop that
// was overtaken fails, unless exactly a multiple of 2^40 pops of the same stack happened between its load and its
// exchange.
#pragma once

#include <cstdint>

#include "kernels/buffers/buffer.hpp"

namespace rondo {

class slot_stack {
 public:
  static constexpr std::uint32_t none = ~0u;
  static constexpr std::uint32_t most_slots = (1u << 24) - 1;

  /// Precondition: only the caller has `slot`, and `slot < most_slots`.
  void push(buffer_table_ref table, std::uint32_t slot) noexcept {
    auto head = head_.load(memory_order::relaxed);  // relaxed: the exchange decides
    do {
      // relaxed: published by the exchange; a pop that reads it too late fails because of the count
      table.entry(slot).next.store(static_cast<std::uint32_t>(head & slot_mask), memory_order::relaxed);
    } while (!head_.compare_exchange(head, (head & ~slot_mask) | (slot + 1), memory_order::release,
                                     memory_order::relaxed));  // release: push -> pop
  }

  /// Any slot, or `none`.
  std::uint32_t pop(buffer_table_ref table) noexcept {
    for (;;) {
      // acquire: push -> pop, for the read of `next` and for the new holder
      auto head = head_.load(memory_order::acquire);
      if ((head & slot_mask) == 0) return none;
      auto const slot = static_cast<std::uint32_t>(head & slot_mask) - 1;
      auto const next =
          table.entry(slot).next.load(memory_order::relaxed);  // relaxed: of the push just acquired
      // relaxed: the replaced head was acquired above, as no value of the head recurs
      if (head_.compare_exchange(head, ((head & ~slot_mask) + one_pop) | next, memory_order::relaxed,
                                 memory_order::relaxed))
        return slot;
    }
  }

 private:
  static constexpr std::uint64_t one_pop = 1ull << 24, slot_mask = one_pop - 1;

  atomic<std::uint64_t> head_{0};  // {pops, slot + 1}
};

}  // namespace rondo
