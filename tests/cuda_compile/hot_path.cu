// The steps that every message takes, each in a separate kernel, so that its PTX can be checked (hot_path.cmake).
// Nothing here runs.
#include "kernels/actor/ring_kernel.hpp"
#include "kernels/grid/io_team.hpp"

using namespace rondo;

extern "C" {

/// A sender reserves a slot of a mailbox that has a ring, fills it and commits it. `arena` and `from` lie in its
/// scheduler.
__global__ void mailbox_send(arena_ref const* arena, sender* from, actor_id to, message_header header,
                             std::uint64_t payload, reservation* out) {
  auto const r = reserve(*arena, to, default_priority, 1, false, *from);
  if (r.status == errc::ok) fill(r.ring, r.ticket, header, &payload, sizeof payload);
  out->status = r.status;
  out->queue_band = r.queue_band;
}

/// The owner reads the slot at the head of a ring, and returns it.
__global__ void mailbox_take(arena_ref arena, actor_cell& cell, mail_ring_ref ring, std::uint64_t* out) {
  if (!ring.committed(arena.owner(cell).head)) return;
  *out = *reinterpret_cast<std::uint64_t const*>(ring.slot(arena.owner(cell).head).payload);
  priority_lists_ref{arena, cell, ring}.take_many(1);
}

__global__ void ready_push(arena_ref arena, std::uint32_t index) { arena.ready(0).push(index); }
__global__ void ready_pop(arena_ref arena, std::uint32_t* out, bool* found) {
  std::uint32_t index = 0;
  *found = arena.ready(0).try_pop(index);
  *out = index;
}

__global__ void claim(arena_ref arena, std::uint32_t index, bool* out) {
  *out = scheduler{arena}.claim(index, actor_word::queued_in(0));
}

/// The completion ring: writes and publishes an item.
__global__ void bus_push(bus_ring_ref<std::uint64_t> ring, std::uint64_t value, bool* out) {
  *out = ring.push(value, memory_order::release, [] { return false; });
}
/// The submission ring: reads an item, and returns its slot to the host.
__global__ void bus_take(bus_ring_ref<std::uint64_t> ring, std::uint64_t* out) {
  bus_reader<std::uint64_t> in{ring};
  if (std::uint64_t item; in.fetch(item)) {
    *out = item;
    in.advance(1);
    in.publish();
  }
}

}  // extern "C"
