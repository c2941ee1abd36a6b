// The senders' side of a mailbox: reserve tickets, write the slots, and commit them. Tickets are reserved with one
// compare-exchange, or at a gate (mail_gate.hpp).
//
// Threads: any. Between reserve and the last commit, the sender must not block: the actor waits for it.
// Ordering: see mail_ring.hpp for the slots. A load of the word acquires the ring that the word names, and the cell as
// set up for its generation, so the exchange on the loaded value need not acquire. The exchange releases a ring that
// this sender attaches.
#pragma once

#include "kernels/base/park.hpp"
#include "kernels/mail/mail_ring_pool.hpp"

namespace rondo {

/// What a thread that sends keeps from one message to the next.
class sender {
 public:
  std::uint32_t spare_ring = 0;  // a free mail ring; 0: none

  /// Whether the last message to a mailbox like this one found no room at its gate. A hint: the thread then looks
  /// before it takes room. So senders that are refused, again and again, do not disturb what the gate counts.
  RONDO_HD bool is_wary(std::uint32_t index) const noexcept { return (wary_of_ >> (index & 63) & 1) != 0; }
  RONDO_HD void be_wary(std::uint32_t index, bool now) noexcept {
    auto const bit = 1ull << (index & 63);
    wary_of_ = now ? wary_of_ | bit : wary_of_ & ~bit;
  }

 private:
  std::uint64_t wary_of_ = 0;  // bits of the lowest bits of indices
};

struct reservation {
  errc status = errc::ok;
  std::uint32_t ticket = 0;  // the first one
  int queue_band = -1;  // the caller, after its commits, must put the actor in this band's queue; -1: none
  bool ring_doorbell = false;  // the caller must wake the pinned actor's team instead
  mail_ring_ref ring{};
};

namespace detail {

/// Whether the mailbox was full, for which the caller has found out that it is if the word is unchanged: otherwise what
/// it looked at belonged to another ticket. Then, with `want_room`, the word records that a sender waits.
RONDO_HD inline bool was_full(actor_cell& cell, actor_word word, bool want_room) noexcept {
  auto bits = word.bits();
  auto const next = want_room ? word.with(actor_word::room_wanted) : word;
  // Relaxed, both: the bits alone are asked for.
  return next.bits() == bits
             ? cell.word.load(memory_order::relaxed) == bits
             : cell.word.compare_exchange(bits, next.bits(), memory_order::relaxed, memory_order::relaxed);
}

/// For a sender that has room: takes `count` tickets; the caller puts the actor into its queue if need be. `seen`: the
/// word as it was a moment ago.
RONDO_HOT RONDO_HD inline void take_tickets(actor_cell& cell, actor_word seen, std::uint8_t priority,
                                            std::uint32_t count, reservation& r) noexcept {
  int const band = band_of(priority);
  if (seen.needs_queueing(band) && !seen.has(actor_word::pinned)) {  // both at once, if nobody else comes now
    auto bits = seen.bits();
    if (cell.word.compare_exchange(bits, seen.after(count).queued_for(band).bits(), ticket_order,
                                   memory_order::relaxed)) {  // the edge `room`
      r.ticket = seen.tail();
      r.queue_band = band;
      return;
    }
  }
  auto bits = cell.word.fetch_add(actor_word::tickets(count), ticket_order);  // the edge `room`
  r.ticket = actor_word{bits}.tail();
  bits += actor_word::tickets(count);
  while (actor_word{bits}.needs_queueing(band)) {
    r.ring_doorbell = actor_word{bits}.has(actor_word::pinned);
    if (r.ring_doorbell) return;
    // Relaxed: only bits.
    if (cell.word.compare_exchange(bits, actor_word{bits}.queued_for(band).bits(), memory_order::relaxed,
                                   memory_order::relaxed)) {
      r.queue_band = band;
      return;
    }
  }
}

/// As pass_gate, where the first look found no room, no ring, or no actor.
RONDO_COLD RONDO_HD inline reservation wait_at_gate(arena_ref const& arena, actor_id to,
                                                    std::uint8_t priority, std::uint32_t count,
                                                    bool want_room, sender& from) noexcept {
  reservation r;
  actor_cell& cell = arena.cell(to.index);
  int patience = 64;
  for (;;) {
    auto const gate = cell.gate.seen();
    auto bits = cell.word.load(memory_order::acquire);
    actor_word const word{bits};
    auto const generation = cell.generation.load(memory_order::relaxed);  // as in pass_gate
    mailbox_limits const limits{cell.limits.load(memory_order::relaxed)};
    if (!gate.is_open(to.generation) || generation != to.generation) {
      r.status = errc::actor_gone;
      return r;
    }
    auto const capacity = limits.of(priority);
    if (count > capacity) {
      r.status = errc::batch_too_large;
      return r;
    }
    r.ring = arena.ring_at(gate.ring());
    if (gate.has_room(count, limits.capacity() - capacity)) {
      if (!cell.gate.try_take_room(gate, count)) continue;
      from.be_wary(to.index, false);
      take_tickets(cell, word, priority, count, r);
      return r;
    }
    if (gate.ring() == 0 && word.ring() == 0 && word.has(actor_word::open) &&
        word.of_generation(to.generation)) {
      if (from.spare_ring == 0) from.spare_ring = pop_free_ring(arena);
      // If there is none, another sender may hold the last one and be about to attach it here or to put it back.
      if (from.spare_ring == 0 && --patience == 0) {
        r.status = errc::arena_full;
        return r;
      }
      auto const next = word.with_ring(from.spare_ring).with_tail(arena.ring(from.spare_ring).saved_tail());
      // Release: a ring comes with its last holder's ticket.
      if (from.spare_ring != 0 &&
          cell.word.compare_exchange(bits, next.bits(), memory_order::release, memory_order::relaxed)) {
        cell.gate.attach(from.spare_ring, limits.capacity());
        from.spare_ring = 0;
        continue;
      }
    } else if (gate.ring() != 0 && word.ring() == gate.ring() &&
               arena.waiting(cell, word) + count > capacity && was_full(cell, word, want_room)) {
      r.status = errc::mailbox_full;
      return r;
    }
    relax();  // somebody is between two steps (M1, M3), or was faster
  }
}

/// As reserve, where the arena has gates.
RONDO_GRID RONDO_HD inline reservation pass_gate(arena_ref const& arena, actor_id to, std::uint8_t priority,
                                                 std::uint32_t count, bool want_room, sender& from) noexcept {
  actor_cell& cell = arena.cell(to.index);
  if (count <= mail_gate::most_by_addition && !from.is_wary(to.index)) [[likely]] {
    // All at once: on a GPU each access takes as long as a hundred instructions. Relaxed: who knows the id sees its
    // launch, so these are of its actor or of a later one; and while the gate is open for that generation there is no
    // later one. (The gate has 13 bits of the generation: the cell's own would have to be 8192 launches old.)
    actor_word const seen{cell.word.load(memory_order::relaxed)};
    auto const generation = cell.generation.load(memory_order::relaxed);
    mailbox_limits const limits{cell.limits.load(memory_order::relaxed)};
    auto const gate = cell.gate.take_room(count);
    if (gate.is_open(to.generation) && generation == to.generation &&
        gate.has_room(count, limits.capacity() - limits.of(priority))) [[likely]] {
      reservation r;
      auto const place = arena.place_of(gate.ring());  // of one trip with the tickets
      take_tickets(cell, seen, priority, count, r);
      r.ring = arena.ring_in(place);
      return r;
    }
    cell.gate.put_back(count);
    from.be_wary(to.index, true);
  }
  return wait_at_gate(arena, to, priority, count, want_room, from);
}

}  // namespace detail

/// Takes `count` consecutive tickets of the actor `to`, or none. Fails with actor_gone, mailbox_full, batch_too_large,
/// or arena_full. With `want_room`, a full mailbox records that a sender waits, and the host is notified when there is
/// room.
RONDO_HOT RONDO_HD inline reservation reserve(arena_ref const& arena, actor_id to, std::uint8_t priority,
                                              std::uint32_t count, bool want_room, sender& from) noexcept {
  reservation r;
  if (!arena.has_cell(to.index)) [[unlikely]] {
    r.status = errc::actor_gone;
    return r;
  }
  if (arena.has_gates()) [[unlikely]]
    return detail::pass_gate(arena, to, priority, count, want_room, from);
  actor_cell& cell = arena.cell(to.index);
  auto& spare_ring = from.spare_ring;
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
    actor_word holding = word;
    bool const attaches = word.ring() == 0;
    if (attaches) [[unlikely]] {
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
      holding = word.with_ring(spare_ring).with_tail(arena.ring(spare_ring).saved_tail());
      r.ring = arena.ring_at(spare_ring);
    }
    r.ticket = holding.tail();
    auto const capacity = mailbox_limits{limits}.of(priority);
    bool const room = count <= capacity && r.ring.taken((r.ticket + count - 1 - capacity) & ticket_mask);
    auto next = holding.after(count);
    if (!room) [[unlikely]] {
      if (detail::was_full(cell, word, want_room)) {
        r.status = count <= capacity ? errc::mailbox_full : errc::batch_too_large;
        break;
      }
      bits = cell.word.load(memory_order::acquire);
      continue;
    }
    int const band = band_of(priority);
    bool const queueing = word.needs_queueing(band);
    if (queueing) next = next.queued_for(band);
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
    if (!lives || word.ring() == 0) return false;
    if (arena.has_gates() ? arena.waiting(cell, word) < capacity
                          : arena.ring_at(word.ring()).taken((word.tail() - capacity) & ticket_mask))
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
