// A ring of message slots, the storage of one mailbox: many producers, one consumer, a sequence number per
// slot.
//
// Rings live in the arena and are shared: an actor without mail need not hold one (mail_ring_pool.hpp). A
// ticket numbers the messages that go through the ring, modulo 2^28; slot `ticket & mask` carries the message.
//
// Invariants, with B the ring's slots, S a slot's sequence and L(t) = t - (t mod B), the lap of ticket t:
//  R1 S == L(t)      the slot is free for ticket t. Zeroed memory is a ring at ticket 0.
//  R2 S == L(t) + n, 0 < n < B  the n messages from t on are committed: their producer has written them and will not
//     touch them again. n > 1: they are a run (mail_run.hpp), and the slots of the others stay as in R1 until the owner
//     unpacks them.
//  R3 S == L(t) + B  message t has been taken, and its slot is free for ticket t + B.
//  R4 Slots are given back in ticket order, so "the slot of t - capacity is free" means that fewer than capacity wait.
// Where there are gates (mail_gate.hpp), owners mark no slot: in place of R1 and R3, a free slot has any sequence but
// that of R2, because each lap of the ring has its own. That a slot is free is said by room.
// Ordering
//  commit   producer's release store of L+n -> consumer's acquire load of it: the messages' bytes.
//  reuse    consumer's release store of L+B -> producer's acquire load of it: the consumer has finished
//           reading.
#pragma once

#include "kernels/base/atomic.hpp"
#include "kernels/base/message.hpp"
#include "kernels/mail/actor_word.hpp"

namespace rondo {

struct alignas(128) message_slot {
  atomic<std::uint32_t> sequence;
  message_header header;
  alignas(16) std::byte payload[max_payload_bytes];
};
static_assert(sizeof(message_slot) == 128);
static_assert(offsetof(message_slot, payload) == 32, "sequence and header take at most 32 bytes");
/// What of it is a message: something with a header and a payload.
RONDO_HD inline message_slot const& message_in(message_slot const& slot) noexcept { return slot; }

/// Whether batches are sent as runs. On a GPU the lanes of a team read and write single messages side by side.
#if defined(__CUDA_ARCH__)
inline constexpr bool sends_runs = false;
#else
inline constexpr bool sends_runs = true;
#endif

/// A slot's links in a list of slots; see priority_lists.hpp.
struct slot_link {
  std::uint32_t previous, next, ticket;
};

/// First and last slot of the list of one priority.
struct priority_list {
  std::uint32_t first, last;
};
/// A list of slots that knows its length. Zeroed memory is an empty one.
struct slot_queue : priority_list {
  std::uint32_t count;
};

/// Where the payloads of adjacent messages are: `stride` bytes apart, in a ring of mask + 1 bytes.
struct payload_places {
  std::byte const* ring;
  std::uint32_t first, stride, mask;  // bytes
  RONDO_HD std::byte const* operator[](std::uint32_t i) const noexcept {
    return ring + ((first + i * stride) & mask);
  }
};

/// A non-owning view of one ring and of the tables of its priority lists. Two words, so that it is passed in registers.
struct mail_ring_ref {
  message_slot* slots;
  std::uint32_t slot_count;  // a power of two, at least 2

  RONDO_HOT RONDO_HD message_slot& slot(std::uint32_t ticket) const noexcept {
    return slots[ticket & (slot_count - 1)];
  }
  RONDO_HOT RONDO_HD std::uint32_t lap(std::uint32_t ticket) const noexcept {
    return ticket & ticket_mask & ~(slot_count - 1);
  }

  /// The payloads of single messages, from that of `ticket` on.
  RONDO_HD payload_places payloads(std::uint32_t ticket) const noexcept {
    constexpr auto slot = static_cast<std::uint32_t>(sizeof(message_slot));
    constexpr auto in_slot = static_cast<std::uint32_t>(offsetof(message_slot, payload));
    return {reinterpret_cast<std::byte const*>(slots), ticket * slot + in_slot, slot, slot_count * slot - 1};
  }

  /// Whether a single message is. `order`: acquire, the edge `commit`; or relaxed, to know this alone.
  RONDO_HOT RONDO_HD bool committed(std::uint32_t ticket,
                                    memory_order order = memory_order::acquire) const noexcept {
    return slot(ticket).sequence.load(order) == lap(ticket) + 1;
  }
  /// Whether message `ticket` has been taken: ticket + slot_count may use its slot.
  RONDO_HOT RONDO_HD bool taken(std::uint32_t ticket) const noexcept {
    return sequence_of(ticket) == ((lap(ticket) + slot_count) & ticket_mask);
  }
  /// The same, or its slot is already used by a later message.
  RONDO_HD bool is_past(std::uint32_t ticket) const noexcept {
    auto const ahead = (sequence_of(ticket) - lap(ticket)) & ticket_mask;
    return ahead >= slot_count && ahead <= ticket_mask / 2;
  }
  /// How many messages are committed that begin at `ticket`: none, a single one, or those of a run. `order`: as above.
  RONDO_HOT RONDO_HD std::uint32_t count_at(std::uint32_t ticket,
                                            memory_order order = memory_order::acquire) const noexcept {
    return count_in(ticket, slot(ticket).sequence.load(order));
  }
  /// The same, as the slot's `sequence` says it.
  RONDO_HOT RONDO_HD std::uint32_t count_in(std::uint32_t ticket, std::uint32_t sequence) const noexcept {
    auto const count = sequence - lap(ticket);
    if constexpr (!sends_runs) return count == 1;
    return count < slot_count ? count : 0;
  }
  RONDO_HOT RONDO_HD void commit(std::uint32_t ticket, std::uint32_t count = 1) const noexcept {
    slot(ticket).sequence.store(lap(ticket) + count, memory_order::release);  // the edge `commit`
  }
  RONDO_HOT RONDO_HD void give_back(std::uint32_t ticket,
                                    memory_order order = memory_order::release) const noexcept {
    slot(ticket).sequence.store((lap(ticket) + slot_count) & ticket_mask, order);  // `reuse`
  }

  /// How many messages from `ticket` on are committed one after the other. Looks at `most`. Precondition: most <=
  /// loads_at_once.
  RONDO_HD std::uint32_t count_committed(std::uint32_t ticket, std::uint32_t most) const noexcept {
    if constexpr (loads_at_once == 1) {
      return most != 0 && committed(ticket & ticket_mask);
    } else {
      std::uint32_t sequences[loads_at_once];
      RONDO_UNROLL
      for (std::uint32_t i = 0; i < loads_at_once; ++i)
        sequences[i] = slot(ticket + i).sequence.load(memory_order::relaxed);
      std::uint32_t missing = 1u << most;
      RONDO_UNROLL
      for (std::uint32_t i = 0; i < loads_at_once; ++i)
        missing |= std::uint32_t{sequences[i] != lap(ticket + i) + 1} << i;
      atomic_fence(memory_order::acquire);  // the edge `commit` of all of them
      return static_cast<std::uint32_t>(lowest_bit(missing));
    }
  }

  /// For the owner, see priority_lists.hpp. Zeroed memory means that nothing is in any list.
  RONDO_HD slot_link& link(std::uint32_t slot) const noexcept { return tables().links()[slot]; }
  RONDO_HD priority_list& list(std::uint32_t priority) const noexcept { return tables().lists[priority]; }
  /// The messages that were announced to the owner and that it has not linked yet.
  RONDO_HD slot_queue& pending() const noexcept { return tables().pending; }
  /// The messages that the actor has stashed. An actor that gives its ring back leaves none.
  RONDO_HD slot_queue& stash() const noexcept { return tables().stash; }

  /// Bytes of a ring of `slots` slots with its tables.
  RONDO_HD static constexpr std::uint64_t bytes_for(std::uint32_t slots) noexcept {
    return align_up(std::uint64_t{slots} * (sizeof(message_slot) + sizeof(slot_link)) + sizeof(list_tables),
                    128);
  }
  /// The ring laid out at `base`, aligned to 128 bytes.
  RONDO_HOT RONDO_HD static mail_ring_ref at(std::byte* base, std::uint32_t slots) noexcept {
    return {reinterpret_cast<message_slot*>(base), slots};
  }

 private:
  /// Behind the slots.
  struct list_tables {
    priority_list lists[256];
    slot_queue pending, stash;
    RONDO_HD slot_link* links() noexcept {
      return reinterpret_cast<slot_link*>(this + 1);
    }  // one for each slot
  };

  RONDO_HD list_tables& tables() const noexcept {
    return *reinterpret_cast<list_tables*>(slots + slot_count);
  }
  RONDO_HOT RONDO_HD std::uint32_t sequence_of(std::uint32_t ticket) const noexcept {
    return slot(ticket).sequence.load(memory_order::acquire);  // the edge `reuse`
  }
};

}  // namespace rondo
