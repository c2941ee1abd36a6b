// The senders' side of a mailbox: reserve tickets with one compare-exchange, write the slots, commit them.
//
// Threads: any. Between reserve and the last commit the sender must not block: the actor waits for it.
// Ordering: see mail_ring.hpp for the slots. The compare-exchange on the word is acq_rel: it acquires the
// ring that the word names, and releases a ring that this sender attached.
#pragma once

#include "kernels/mail_ring_pool.hpp"

namespace rondo {

struct reservation {
  errc status = errc::ok;
  std::uint32_t ticket = 0;  // the first one
  int queue_band = -1;  // the caller must put the actor in this band's queue after its commits; -1: no need
  bool ring_doorbell = false;  // the caller must wake the pinned actor's team instead
  mail_ring_ref ring{};
};

/// Takes `count` consecutive tickets of the actor `to`, or none. Fails with actor_gone, mailbox_full,
/// arena_full. With `want_room` a full mailbox remembers that somebody waits; the host is told when there is
/// room.
RONDO_HD inline reservation reserve(arena_ref const& arena, actor_id to, std::uint8_t priority,
                                    std::uint32_t count, bool want_room) noexcept {
  reservation r;
  if (!arena.has_cell(to.index)) return r.status = errc::actor_gone, r;
  actor_cell& cell = arena.cell(to.index);
  std::uint32_t fresh_ring = 0;
  auto bits = cell.word.load(memory_order::acquire);
  for (;;) {
    actor_word const word{bits};
    // The generation is read after the word: a newer generation is seen as such, an older word fails the
    // exchange.
    if (!word.has(actor_word::open) || !word.of_generation(to.generation) ||
        cell.generation.load(memory_order::relaxed) != to.generation) {
      r.status = errc::actor_gone;
      break;
    }
    auto ring_id = word.ring();
    r.ticket = word.tail();
    if (ring_id == 0) {
      if (fresh_ring == 0) fresh_ring = pop_free_ring(arena);
      if (fresh_ring == 0) {
        r.status = errc::arena_full;
        break;
      }
      ring_id = fresh_ring;
      r.ticket = arena.ring(ring_id).tail & ticket_mask;
    }
    r.ring = arena.ring_at(ring_id);
    // Ahead of need: the exchange below waits for all earlier stores, so a line that is still on its way costs in full.
    prefetch_to_write(&r.ring.slot(r.ticket + 6));
    prefetch_to_write(r.ring.slot(r.ticket + 6).payload + 32);
    auto const capacity =
        cell.capacity.load(memory_order::relaxed);  // relaxed: a stale one fails the exchange
    bool const room = count <= capacity && r.ring.taken((r.ticket + count - 1 - capacity) & ticket_mask);
    auto next = word.with_tail(r.ticket + count).with_ring(ring_id);
    if (!room) {
      next = want_room ? word.with(actor_word::room_wanted) : word;
      // Full only if the word has not moved since: else the slot that we looked at was another ticket's.
      if (next.bits() == bits
              ? cell.word.load(memory_order::acquire) == bits
              : cell.word.compare_exchange(bits, next.bits(), memory_order::acq_rel, memory_order::acquire)) {
        r.status = errc::mailbox_full;
        break;
      }
      bits = cell.word.load(memory_order::acquire);
      continue;
    }
    int const band = band_of(priority);
    bool const queueing = word.needs_queueing(band);
    if (queueing) next = next.with(actor_word::queued_in(band));
    if (cell.word.compare_exchange(bits, next.bits(), memory_order::acq_rel, memory_order::acquire)) {
      if (ring_id == fresh_ring) fresh_ring = 0;
      r.ring_doorbell = queueing && word.has(actor_word::pinned);
      if (queueing && !r.ring_doorbell) r.queue_band = band;
      break;
    }
  }
  if (fresh_ring != 0) push_free_ring(arena, fresh_ring);
  return r;
}

/// Writes and commits one message into `ticket` of a reservation.
RONDO_HD inline void fill(mail_ring_ref const& ring, std::uint32_t ticket, message_header const& header,
                          void const* payload, std::uint32_t bytes) noexcept {
  message_slot& slot = ring.slot(ticket);
  slot.header = header;
  __builtin_memcpy(slot.payload, payload, bytes);
  ring.commit(ticket);
}

/// Tells the actor that `count` messages of a priority other than the default are about to be committed (P2).
/// Call it after reserve and before fill. Release: pairs with the owner's acquire load of `alert`.
RONDO_HD inline void alert(actor_cell& cell, std::uint8_t priority, std::uint32_t count) noexcept {
  if (priority != default_priority) cell.alert.fetch_add(count, memory_order::release);
}

}  // namespace rondo
