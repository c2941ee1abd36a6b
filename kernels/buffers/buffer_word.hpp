// The 64-bit word of a buffer's slot. Owners, readers, and writers change it with a single compare-exchange.
//
//   bits  0..28  readers: shared leases
//   bit  29      foreign: the block is lent for reading alone; set while the slot is not free
//   bit  30      writer: one exclusive lease
//   bit  31      live: acquired and not yet released
//   bits 32..63  generation; 0 is never issued
//
// Invariants
//  B1 A lease is taken only while `live`, by the same compare-exchange that checks the generation.
//  B2 While readers > 0 there is no writer, and while there is a writer there is no reader.
//  B3 The slot becomes free (not live, no lease) exactly once per generation, and the same exchange advances
//     the generation: that of the release if there is no lease, otherwise that of the last lease's end.
//  B4 base, bytes, and memory change only while the slot is free, so lease holders use plain reads.
//  B5 Generations do not recur: after the last one comes 0, and a slot at 0 is never opened again.
#pragma once

#include "kernels/base/portable.hpp"

namespace rondo {

class buffer_word {
 public:
  static constexpr std::uint64_t one_reader = 1, readers_mask = (1ull << 29) - 1, foreign = 1ull << 29,
                                 writer = 1ull << 30, live = 1ull << 31;

  RONDO_HD constexpr explicit buffer_word(std::uint64_t bits) noexcept : bits_(bits) {}
  /// The word of a free slot whose next use has this generation.
  RONDO_HD static constexpr buffer_word free_at(std::uint32_t generation) noexcept {
    return buffer_word{std::uint64_t{generation} << 32};
  }

  RONDO_HD constexpr std::uint64_t bits() const noexcept { return bits_; }
  RONDO_HD constexpr std::uint32_t generation() const noexcept {
    return static_cast<std::uint32_t>(bits_ >> 32);
  }
  RONDO_HD constexpr std::uint64_t readers() const noexcept { return bits_ & readers_mask; }
  RONDO_HD constexpr bool written() const noexcept { return (bits_ & writer) != 0; }
  RONDO_HD constexpr bool is_foreign() const noexcept { return (bits_ & foreign) != 0; }
  RONDO_HD constexpr bool is_live() const noexcept { return (bits_ & live) != 0; }
  RONDO_HD constexpr bool leased() const noexcept { return (bits_ & (readers_mask | writer)) != 0; }
  RONDO_HD constexpr bool is_free() const noexcept { return !is_live() && !leased(); }

  /// This word, or the free word of the next generation if this one is neither live nor leased (B3).
  RONDO_HD constexpr buffer_word settled() const noexcept {
    return is_free() ? free_at(generation() + 1) : *this;
  }

 private:
  std::uint64_t bits_;
};

}  // namespace rondo
