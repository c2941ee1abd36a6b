// A bus ring in ordinary memory, for the tests of both of its ends.
#pragma once

#include <vector>

#include "kernels/link/queue_pair.hpp"
#include "tests/kernels/arena_fixture.hpp"

namespace rondo_test {

/// A ring in the state after `start` items have gone through it.
template <class Item>
struct test_ring {
  explicit test_ring(std::uint32_t size, std::uint64_t start = 0) : slots(size) {
    progress.consumed.store(start, memory_order::relaxed);
    writers.tail.store(start, memory_order::relaxed);
    writers.seen.store(start, memory_order::relaxed);
    for (std::uint64_t t = start; t < start + size; ++t)
      for (auto& chunk : slots[t & (size - 1)].chunks)
        chunk.store(bus_slot<Item>::tag(t - size), memory_order::relaxed);
  }
  bus_ring_ref<Item> ref() {
    return {slots.data(), &progress, &writers, static_cast<std::uint32_t>(slots.size()), {}};
  }

  std::vector<bus_slot<Item>> slots;
  bus_progress progress{};
  bus_writers writers{};
};

}  // namespace rondo_test
