// Launching an actor in a cell that the host has chosen.
#pragma once

#include "kernels/actor/module.hpp"

namespace rondo {

/// The host's decisions about a new actor. Travels in one message to devices that own their
/// arena.
struct launch_spec {
  actor_id id;                 // a free cell, and the new actor's generation
  std::uint64_t state_offset;  // of memory for the behaviour's state, aligned to 64
  std::uint64_t ring_offset;   // of a dedicated ring; used if ring_id is not 0
  std::uint64_t heap_end;      // upper bound of all actors' memory
  std::uint32_t ring_id;       // 0: takes a shared ring when it has mail
  std::uint32_t ring_slots;
  std::uint32_t capacity;
  reserved_room reserve;
  supervision supervise;
  std::uint32_t team;  // the team that a pinned actor owns
  std::uint16_t behaviour;
  std::uint8_t batch;  // the most messages that a batch handler gets at once; 0: max_batch
  bool pinned;
  bool active;         // false: keeps its mail until it is activated
  bool ring_has_past;  // the ring's memory was used before and must be cleared
  bool restored;       // state and counters are restored from a checkpoint afterwards; on_start does not run
};
static_assert(sizeof(launch_spec) <= max_payload_bytes && std::is_trivially_copyable_v<launch_spec>);

/// Arguments for an actor's on_start. They are placed before its launch, and kept beside its state.
struct launch_arguments {
  std::uint64_t offset;  // in the arena, a multiple of 4
  std::uint32_t count;   // bytes; 0: none
  alignas(8) std::byte bytes[max_argument_bytes];
};
static_assert(sizeof(launch_arguments) <= max_payload_bytes);

RONDO_HD inline void place_arguments(arena_ref const& arena, launch_arguments const& a) noexcept {
  if (a.count <= max_argument_bytes) copy_words(arena.base() + a.offset, a.bytes, a.count);
}

namespace detail {

/// For the next actor. Relaxed: its word's release publishes it.
RONDO_HD inline void clear(owner_cell& own) noexcept {
  own.set_head(0);
  own.linked = 0;
  own.levels[0] = own.levels[1] = own.levels[2] = own.levels[3] = 0;
  own.overtakes = 0;
  own.tail_seen.store(0, memory_order::relaxed);
  own.held_ring.store(0, memory_order::relaxed);
  own.totals.counted_ring.store(0, memory_order::relaxed);
  own.totals.publish({});
  own.latency.clear();
}

}  // namespace detail

/// Launches the actor; senders may then post to spec.id. Precondition: the cell is free, or its last
/// actor's `terminated` event was emitted.
template <class Module>
RONDO_HD void launch_actor(scheduler& sched, launch_spec const& spec) {
  arena_ref const& arena = sched.arena();
  actor_cell& cell = arena.cell(spec.id.index);
  // Relaxed throughout: the word's release publishes the cell.
  cell.limits.store(mailbox_limits{spec.capacity, spec.reserve}.bits(), memory_order::relaxed);
  cell.behaviour_index.store(spec.behaviour, memory_order::relaxed);
  cell.team.store(spec.team, memory_order::relaxed);
  cell.supervise = spec.supervise;
  cell.turn = turn_terms::of(spec.batch != 0 ? spec.batch : max_batch, 0);
  cell.state_offset = spec.state_offset;
  cell.window_start_ms = 0;
  cell.window_restarts = 0;
  bool made = true;
  call_caught([&] { Module::construct(spec.behaviour, arena.state(cell)); },
              [&](char const*) { made = false; });  // its first owner tries again, and reports what it throws
  std::uint32_t const first = spec.restored                       ? 0u
                              : !made                             ? std::uint32_t{control_construct}
                              : Module::has_start(spec.behaviour) ? std::uint32_t{control_start}
                                                                  : 0u;
  bool const starts = first != 0;
  bool const is_zero =
      spec.id.generation == 1 && !spec.restored;  // what its owner keeps: this is the first actor
  if (!is_zero) detail::clear(arena.owner(cell));
  if (!is_zero || starts)
    arena.owner(cell).control.store(control_for(spec.id.generation, first), memory_order::relaxed);
  cell.generation.store(spec.id.generation, memory_order::relaxed);
  cell.state.store(static_cast<std::uint32_t>(spec.active ? lifecycle::active : lifecycle::launched),
                   memory_order::relaxed);
  if (spec.ring_id != 0) {
    ring_entry& ring = arena.ring(spec.ring_id);
    ring.set_place(spec.ring_offset, spec.ring_slots);
    ring.set_tail(0);
    ring.dedicated = 1;
    mail_ring_ref const slots = arena.ring_at(spec.ring_id);
    // The pages of a host's memory come when they are first touched: not while an urgent message waits to be linked.
    for (std::uint32_t i = 0; threads_park && i < spec.ring_slots; i += 4096 / sizeof(slot_link))
      slots.link(i).ticket = 0;
    if (spec.ring_has_past) {
      for (std::uint32_t i = 0; i < spec.ring_slots; ++i) {
        slots.slots[i].sequence.store(0, memory_order::relaxed);
        slots.link(i).ticket = 0;
      }
      slots.pending().count = slots.stash().count = 0;
    }
  }
  if (arena.has_gates()) cell.gate.open(spec.id.generation);
  auto bits = cell.word.load(memory_order::relaxed);
  for (;;) {
    auto word = actor_word{bits & actor_word::queued_mask}
                    // W4: entries of the last actor may still be in queues
                    .with(actor_word::open)
                    .with_ring(spec.ring_id)
                    .with_generation(spec.id.generation);
    if (!spec.active) word = word.with(actor_word::paused);
    if (spec.pinned) word = word.with(actor_word::pinned);
    // Signalled from the start: on_start, or another construction, runs before any mail is handled.
    if (starts) word = word.with(actor_word::signalled).queued_for(0);
    // Release: publishes the cell to senders and to the first owner.
    if (cell.word.compare_exchange(bits, word.bits(), memory_order::release, memory_order::relaxed)) break;
  }
  if (arena.has_gates() && spec.ring_id != 0) cell.gate.attach(spec.ring_id, spec.capacity);  // M3
  if (spec.pinned) {
    // Relaxed: the team's claim acquires the cell. A claim that comes too early fails, and the doorbell triggers
    // another.
    arena.team(spec.team).pinned_actor.store(spec.id.index + 1, memory_order::relaxed);
    sched.ring_doorbell(spec.team);
  }
  if (starts && !spec.pinned && !actor_word{bits}.has(actor_word::queued_in(0)))
    sched.push_and_wake(spec.id.index, 0);
}

}  // namespace rondo
