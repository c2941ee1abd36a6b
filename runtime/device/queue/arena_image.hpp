// A copy of a device's arena in the host's memory, and what of it is worth copying.
//
// Threads: fetch and put_back from one at a time, at safepoints; the rest from any.
#pragma once

#include <algorithm>

#include "kernels/mail/arena.hpp"
#include "runtime/memory/arena_memory.hpp"

namespace rondo {

class arena_image {
 public:
  /// An arena that was just formatted.
  explicit arena_image(arena_shape const& shape)
      : memory_(arena_ref::bytes_for(shape)), arena_(arena_ref::format(memory_.data(), shape)) {}

  /// As the device's arena was when it was fetched last.
  arena_ref const& arena() const noexcept { return arena_; }
  std::size_t size() const noexcept { return memory_.size(); }
  /// Actors' memory reaches up to `end`.
  void raise_heap_end(std::uint64_t to) noexcept {
    for (auto end = heap_end_.load(memory_order::relaxed); end < to;)  // relaxed: a number alone
      if (heap_end_.compare_exchange(end, to, memory_order::relaxed, memory_order::relaxed)) break;
  }

  /// Makes the device's zeroed arena one that was just formatted.
  template <class Machine>
  bool begin(Machine& machine, std::byte* device) {
    return machine.copy_in(device, memory_.data(),
                           arena_.header().ready_positions_at);  // what follows is zero
  }
  // False when the machine has faulted. Copied is what may hold anything, but for the header's first part: it never
  // changes, or it is what the keeper and the teams look at while they stand still.
  template <class Machine>
  bool fetch(Machine& machine, std::byte const* device) {
    return machine.copy_out(memory_.data() + first(), device + first(), last() - first());
  }
  template <class Machine>
  bool put_back(Machine& machine, std::byte* device) {
    return machine.copy_in(device + first(), memory_.data() + first(), last() - first());
  }

 private:
  std::size_t first() const noexcept {
    return static_cast<std::size_t>(reinterpret_cast<std::byte*>(&arena_.header().free_rings) -
                                    memory_.data());
  }
  std::size_t last() const noexcept {
    return std::max(arena_.header().heap_at,
                    heap_end_.load(memory_order::relaxed));  // relaxed: a number alone
  }

  arena_memory memory_;
  arena_ref arena_;
  atomic<std::uint64_t> heap_end_{0};
};

}  // namespace rondo
