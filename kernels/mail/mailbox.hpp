// The senders' side of a mailbox: reserve tickets with one compare-exchange, write the slots, and commit them.
//
// Threads: any. Between reserve and the last commit, the sender must not block: the actor waits for it.
// Ordering: see mail_ring.hpp for the slots. A load of the word acquires the ring that the word names, and the cell as
// set up for its generation, so the exchange on the loaded value need not acquire. The exchange releases a ring that
// this sender attaches.
#pragma once

#include "kernels/base/park.hpp"
#include "kernels/mail/mail_ring_pool.hpp"

namespace rondo {

struct reservation {
  errc status = errc::ok;
  std::uint32_t ticket = 0;  // the first one
  int queue_band = -1;  // the caller, after its commits, must put the actor in this band's queue; -1: none
  bool ring_doorbell = false;  // the caller must wake the pinned actor's team instead
  mail_ring_ref ring{};
};

/// Takes `count` consecutive tickets of the actor `to`, or none. Fails with actor_gone, mailbox_full, batch_too_large,
/// or arena_full. With `want_room`, a full mailbox records that a sender waits, and the host is notified when there is
/// room. `spare_ring` is the free ring that the caller holds, before and after the call; 0: none.
RONDO_HOT RONDO_HD inline reservation reserve(arena_ref const& arena, actor_id to, std::uint8_t priority,
                                              std::uint32_t count, bool want_room,
                                              std::uint32_t& spare_ring) noexcept {
  reservation r;
  if (!arena.has_cell(to.index)) [[unlikely]] {
    r.status = errc::actor_gone;
    return r;
  }
  actor_cell& cell = arena.cell(to.index);
  int patience = 64;
  auto bits = cell.word.load(memory_order::acquire);
  for (;;) {
    actor_word const word{bits};
    // Read after the word: a newer generation differs from `to`, and with an older word the exchange fails. Relaxed: so
    // does it if the capacity or the place is stale. All three at once: on a GPU each load takes as long as a hundred
    // instructions.
    auto const generation = cell.generation.load(memory_order::relaxed);
    auto const limits = cell.limits.load(memory_order::relaxed);
    r.ring = arena.ring_at(word.ring());
    if (!word.has(actor_word::open) || !word.of_generation(to.generation) || generation != to.generation) {
      r.status = errc::actor_gone;
      break;
    }
    auto ring_id = word.ring();
    r.ticket = word.tail();
    if (ring_id == 0) [[unlikely]] {
      if (spare_ring == 0) spare_ring = pop_free_ring(arena);
      if (spare_ring == 0) {
        // Another sender may hold the last ring and be about to attach it here or to put it back.
        if (--patience == 0) {
          r.status = errc::arena_full;
          break;
        }
        relax();
        bits = cell.word.load(memory_order::acquire);
        continue;
      }
      ring_id = spare_ring;
      r.ticket = arena.ring(ring_id).saved_tail();
      r.ring = arena.ring_at(ring_id);
    }
    auto const capacity = mailbox_limits{limits}.of(priority);
    bool const room = count <= capacity && r.ring.taken((r.ticket + count - 1 - capacity) & ticket_mask);
    auto next = word.with_tail(r.ticket + count).with_ring(ring_id);
    if (!room) [[unlikely]] {
      next = want_room ? word.with(actor_word::room_wanted) : word;
      // Full only if the word is unchanged: otherwise the slot that we checked belonged to another ticket.
      if (next.bits() == bits
              ? cell.word.load(memory_order::relaxed) == bits  // relaxed, both: the bits alone are asked for
              : cell.word.compare_exchange(bits, next.bits(), memory_order::relaxed, memory_order::relaxed)) {
        r.status = count <= capacity ? errc::mailbox_full : errc::batch_too_large;
        break;
      }
      bits = cell.word.load(memory_order::acquire);
      continue;
    }
    int const band = band_of(priority);
    bool const queueing = word.needs_queueing(band);
    if (queueing) next = next.queued_for(band);
    bool const attaches = ring_id == spare_ring;
    // Release: a ring comes with its last holder's ticket. Acquire on failure: what another sender attached.
    if (attaches
            ? cell.word.compare_exchange(bits, next.bits(), memory_order::release, memory_order::acquire)
            : cell.word.compare_exchange(bits, next.bits(), memory_order::relaxed, memory_order::acquire)) {
      if (attaches) spare_ring = 0;
      r.ring_doorbell = queueing && word.has(actor_word::pinned);
      if (queueing && !r.ring_doorbell) r.queue_band = band;
      break;
    }
  }
  return r;
}

/// The same for one message of the default priority to an idle actor that holds no ring, by a sender that holds a free
/// one. True: the actor holds that ring now, the message has `ticket`, and the caller must put the actor into its
/// queue.
RONDO_HOT RONDO_HD inline bool reserve_first(arena_ref const& arena, actor_id to, std::uint32_t spare_ring,
                                             std::uint32_t& ticket) noexcept {
  if (!arena.has_cell(to.index)) return false;
  actor_cell& cell = arena.cell(to.index);
  auto bits = cell.word.load(memory_order::acquire);
  auto const idle = actor_word::idle(to.generation);
  // Relaxed, all: as in reserve. All slots of a free ring are free.
  if (bits != idle.bits() || cell.generation.load(memory_order::relaxed) != to.generation ||
      mailbox_limits{cell.limits.load(memory_order::relaxed)}.of(default_priority) == 0)
    return false;
  ticket = arena.ring(spare_ring).saved_tail();
  auto const next = idle.with_ring(spare_ring).with_tail(ticket + 1).queued_for(band_of(default_priority));
  return cell.word.compare_exchange(bits, next.bits(), memory_order::release, memory_order::relaxed);
}

/// Records that somebody waits for room for a message of the default priority in the mailbox of `to`. False, without
/// effect, if it has room, or is gone. Release: what the caller did before is visible to the owner that finds the
/// record.
RONDO_HD inline bool ask_for_room(arena_ref const& arena, actor_id to) noexcept {
  actor_cell& cell = arena.cell(to.index);
  auto bits = cell.word.load(memory_order::acquire);
  for (;;) {
    actor_word const word{bits};
    // Relaxed, both: see reserve.
    auto const generation = cell.generation.load(memory_order::relaxed);
    auto const capacity = mailbox_limits{cell.limits.load(memory_order::relaxed)}.of(default_priority);
    bool const lives =
        word.has(actor_word::open) && word.of_generation(to.generation) && generation == to.generation;
    if (!lives || word.ring() == 0 ||
        arena.ring_at(word.ring()).taken((word.tail() - capacity) & ticket_mask))
      return false;
    if (cell.word.compare_exchange(bits, word.with(actor_word::room_wanted).bits(), memory_order::release,
                                   memory_order::acquire))
      return true;
  }
}

/// Writes one message into the slot of a reserved `ticket` and commits it.
RONDO_HOT RONDO_HD inline void fill(mail_ring_ref const& ring, std::uint32_t ticket,
                                    message_header const& header, void const* payload,
                                    std::uint32_t bytes) noexcept {
  message_slot& slot = ring.slot(ticket);
  slot.header = header;
  copy_words(slot.payload, payload, bytes);
  ring.commit(ticket);
}

}  // namespace rondo
