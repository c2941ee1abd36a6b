// The host's copy of a device's arena, and which part of it needs copying.
//
// Threads: fetch and put_back from one thread at a time, at safepoints; the rest from any.
#pragma once

#include <algorithm>

#include "kernels/mail/arena.hpp"
#include "runtime/memory/arena_memory.hpp"

namespace rondo {

class arena_image {
 public:
  /// A freshly formatted arena. Its mailboxes have gates: many teams send.
  explicit arena_image(arena_shape const& shape)
      : memory_(arena_ref::bytes_for(shape)), arena_(arena_ref::format(memory_.data(), with_gates(shape))) {}

  /// The device's arena as of the last fetch.
  arena_ref const& arena() const noexcept { return arena_; }
  std::size_t size() const noexcept { return memory_.size(); }
  /// Raises the end of actors' memory to `to`.
  void raise_heap_end(std::uint64_t to) noexcept {
    for (auto end = heap_end_.load(memory_order::relaxed); end < to;)  // relaxed: only a number
      if (heap_end_.compare_exchange(end, to, memory_order::relaxed, memory_order::relaxed)) break;
  }

  /// Formats the device's zeroed arena.
  template <class Machine>
  bool begin(Machine& machine, std::byte* device) {
    return machine.copy_in(device, memory_.data(),
                           arena_.header().ready_positions_at);  // the rest is zero
  }
  // False if the machine has faulted. They copy the used part of the arena, except for the header's first part: it
  // never changes, or the keeper and the teams use it while they stand still.
  template <class Machine>
  bool fetch(Machine& machine, std::byte const* device) {
    return machine.copy_out(memory_.data() + first(), device + first(), last() - first());
  }
  template <class Machine>
  bool put_back(Machine& machine, std::byte* device) {
    return machine.copy_in(device + first(), memory_.data() + first(), last() - first());
  }

 private:
  static arena_shape with_gates(arena_shape shape) noexcept {
    shape.gates = true;
    return shape;
  }
  std::size_t first() const noexcept {
    return static_cast<std::size_t>(reinterpret_cast<std::byte*>(&arena_.header().free_rings) -
                                    memory_.data());
  }
  std::size_t last() const noexcept {
    return std::max(arena_.header().heap_at,
                    heap_end_.load(memory_order::relaxed));  // relaxed: only a number
  }

  arena_memory memory_;
  arena_ref arena_;
  atomic<std::uint64_t> heap_end_{0};
};

}  // namespace rondo
