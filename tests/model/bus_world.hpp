// The helpers of the scenarios about the rings between host and device.
#pragma once

#include "kernels/link/bus_ring.hpp"
#include "tests/model/execution.hpp"

namespace model {

using namespace rondo;

/// The memory of one ring, as if `first` items had gone through it.
template <class Item>
bus_ring_ref<Item> make_ring(execution& x, std::uint32_t slots, std::uint64_t first = 0) {
  auto* const memory = reinterpret_cast<bus_slot<Item>*>(x.memory(slots * sizeof(bus_slot<Item>), 64));
  bus_ring_ref<Item> const ring{memory, &x.shared<bus_progress>(), &x.shared<bus_writers>(), slots};
  for (auto t = first; t < first + slots && first != 0; ++t)
    for (auto& chunk : ring.slot(t).chunks)
      chunk.store(bus_slot<Item>::tag(t - slots), memory_order::relaxed);
  ring.progress->consumed.store(first, memory_order::relaxed);
  ring.writers->tail.store(first, memory_order::relaxed);
  ring.writers->seen.store(first, memory_order::relaxed);
  return ring;
}

}  // namespace model
