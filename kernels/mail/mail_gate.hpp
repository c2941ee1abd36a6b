// The gate of a mailbox on a device with many senders: they take room by an addition, then tickets by another, and
// never try again because of each other.
//
// Where a sender takes its ticket by compare-exchange (mailbox.hpp), one of all that try at once succeeds. A CPU has
// few senders, and that way costs it less. A GPU has hundreds of teams, each of which waits for three loads and the
// exchange. Which of both it is, the arena says: arena_ref::has_gates.
//
//   bits  0..19  ring: the mail ring that the mailbox holds; 0: none, and then no room
//   bit  20      open: messages are accepted
//   bits 21..33  the low bits of the generation
//   bits 34..63  room: how many more messages the mailbox takes, signed. Highest, so that an addition to it changes
//                nothing else
//
// Invariants
//  M1 A sender subtracts what it needs. If the gate was open, of its actor's generation, and had as much room and what
//     is reserved against its priority, then that room is its own until the owner has given its messages' slots back.
//     Otherwise it adds it again: for that moment the room is less than it is, so that a mailbox is full is not
//     said by the gate, but by the word's tail and the head that the owner shows.
//  M2 The owner takes the ring away, and ends the generation, only by an exchange that finds all room there: nobody is
//     between its room and its ticket, and no message waits. So a sender that has room knows the ring and the actor.
//  M3 Only a sender that has room adds to the word's tail. A ring comes to the word first, then to the gate; it leaves
//     the gate first. A sender that sees it in one of them only waits for the other step.
//  M4 Who cannot have room yet or any more (no ring, closed) only adds and subtracts the same. So whoever changes the
//     other fields keeps the room as it is.
// Ordering
//  room     owner's release addition -> sender's acquire subtraction -> its release addition of tickets
//           -> acquire addition of later ones: the owner has finished reading the slot. Two steps, because a sender may
//           take the room of one slot and then the ticket of another, which the owner gave back in between; but of all
//           senders that have tickets up to this one, the last that took room took it after that. On a GPU all of
//           these are relaxed. ASSUMES: a GPU issues in order; it performs no store before the branch that leads to it
//           is decided, and a sender that has room only stores to the slot; it issues nothing that needs a loaded value
//           before the load is performed, and an owner that gives room back has stored what it wants of the slot.
//  attach   release addition of a ring -> sender's acquire subtraction: the ring's place.
#pragma once

#include "kernels/base/atomic.hpp"

namespace rondo {

namespace detail {
#if defined(__CUDA_ARCH__)
inline constexpr memory_order give_order = memory_order::relaxed, room_order = memory_order::relaxed,
                              ticket_order = memory_order::relaxed;
#else
inline constexpr memory_order give_order = memory_order::release, room_order = memory_order::acquire,
                              ticket_order = memory_order::acq_rel;
#endif
}  // namespace detail

class gate_word {
 public:
  static constexpr std::uint64_t open_bit = 1ull << 20;  // messages are accepted

  RONDO_HD constexpr explicit gate_word(std::uint64_t bits) noexcept : bits_(bits) {}

  RONDO_HD constexpr std::uint64_t bits() const noexcept { return bits_; }
  RONDO_HD constexpr std::uint32_t ring() const noexcept {
    return static_cast<std::uint32_t>(bits_ & ring_mask);
  }
  /// Whether it is open for messages to an actor of `generation`.
  RONDO_HD constexpr bool is_open(std::uint32_t generation) const noexcept {
    return (bits_ & (open_bit | generation_mask)) == (open_bit | generation_bits(generation));
  }
  RONDO_HD constexpr std::int64_t room() const noexcept {
    return static_cast<std::int64_t>(bits_) >> room_shift;
  }
  /// Whether a ring is there, and room for `count` messages beside `reserved` slots.
  RONDO_HD constexpr bool has_room(std::uint32_t count, std::uint32_t reserved) const noexcept {
    return ring() != 0 && room() >= std::int64_t{count} + reserved;
  }

  RONDO_HD constexpr gate_word with_generation(std::uint32_t generation) const noexcept {
    return gate_word{(bits_ & ~generation_mask) | generation_bits(generation)};
  }
  /// What an addition to the bits takes: room for this many messages.
  RONDO_HD static constexpr std::uint64_t room_for(std::uint32_t count) noexcept {
    return std::uint64_t{count} << room_shift;
  }

 private:
  static constexpr int generation_shift = 21, room_shift = 34;
  static constexpr std::uint64_t ring_mask = 0xf'ffffull, generation_mask = 0x1fffull << generation_shift;

  RONDO_HD static constexpr std::uint64_t generation_bits(std::uint32_t generation) noexcept {
    return std::uint64_t{generation} << generation_shift & generation_mask;
  }

  std::uint64_t bits_;
};

/// Zeroed memory is the gate of no actor.
class mail_gate {
 public:
  /// How many messages a sender takes room for by addition. More than these are taken by compare-exchange, so that what
  /// all senders subtract in vain never wraps.
  static constexpr std::uint32_t most_by_addition = 64;

  // -- senders

  /// The gate before `count` messages' room is subtracted; see M1. Precondition: count <= most_by_addition.
  RONDO_HOT RONDO_HD gate_word take_room(std::uint32_t count) noexcept {
    return gate_word{bits_.fetch_sub(gate_word::room_for(count), detail::room_order)};
  }
  /// After take_room did not find it.
  RONDO_HD void put_back(std::uint32_t count) noexcept {
    bits_.fetch_add(gate_word::room_for(count), memory_order::relaxed);  // relaxed: nothing was done with it
  }
  /// As it is.
  RONDO_HD gate_word seen() const noexcept { return gate_word{bits_.load(memory_order::acquire)}; }
  /// Takes room where the gate is still `as_seen`.
  RONDO_HD bool try_take_room(gate_word as_seen, std::uint32_t count) noexcept {
    auto bits = as_seen.bits();
    return bits_.compare_exchange(bits, bits - gate_word::room_for(count), detail::room_order,
                                  memory_order::relaxed);
  }
  /// Once the actor's word holds `ring`, which is empty. Only who put it there calls this.
  RONDO_HD void attach(std::uint32_t ring, std::uint32_t capacity) noexcept {
    bits_.fetch_add(gate_word::room_for(capacity) | ring, memory_order::release);  // the edge `attach`
  }

  // -- the owner, and who launches the actor. Relaxed where nothing is said: only bits

  /// Before the word is of that generation. Release: the cell, also for who guesses the id.
  RONDO_HD void open(std::uint32_t generation) noexcept {
    auto bits = bits_.load(memory_order::relaxed);
    while (!bits_.compare_exchange(bits,
                                   gate_word{bits | gate_word::open_bit}.with_generation(generation).bits(),
                                   memory_order::release, memory_order::relaxed)) {
    }
  }
  /// Refuses messages from now on.
  RONDO_HD void close() noexcept { bits_.fetch_and(~gate_word::open_bit, memory_order::relaxed); }
  /// Gives room back.
  RONDO_HOT RONDO_HD void give_room(std::uint32_t count) noexcept {
    bits_.fetch_add(gate_word::room_for(count), detail::give_order);  // the edge `room`
  }
  /// Takes the ring away, if it is there with all room of `capacity`.
  RONDO_HD bool detach(std::uint32_t ring, std::uint32_t capacity) noexcept {
    auto bits = bits_.load(memory_order::relaxed);
    auto const taken = gate_word::room_for(capacity) | ring;
    return gate_word{bits}.ring() == ring && gate_word{bits}.room() == capacity &&
           bits_.compare_exchange(bits, bits - taken, memory_order::relaxed, memory_order::relaxed);
  }
  /// Of a closed gate, takes the ring away (0: there is none), and begins `next_generation`. False if a sender has
  /// room, or is about to attach a ring.
  RONDO_HD bool end(std::uint32_t ring, std::uint32_t capacity, std::uint32_t next_generation) noexcept {
    auto bits = bits_.load(memory_order::relaxed);
    for (;;) {
      gate_word const gate{bits};
      if (gate.ring() != ring || (ring != 0 && gate.room() != capacity)) return false;
      auto const left = ring == 0 ? bits : bits - (gate_word::room_for(capacity) | ring);
      if (bits_.compare_exchange(bits, gate_word{left}.with_generation(next_generation).bits(),
                                 memory_order::relaxed, memory_order::relaxed))
        return true;
    }
  }

 private:
  atomic<std::uint64_t> bits_;
};

}  // namespace rondo
