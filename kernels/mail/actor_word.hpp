// An actor's 64-bit word: the state that every sender and team changes with a single exchange.
//
//   bits  0..19  ring: the mail ring that the actor holds; 0: none
//   bits 20..23  queued: one bit for each band whose ready queue holds the actor
//   bit  24      running: a team owns the actor
//   bit  25      open: messages are accepted
//   bit  26      paused: deactivated; keeps its mail, which does not make it run
//   bit  27      pinned: a dedicated team polls it while running
//   bit  28      signalled: a control operation is pending (owner_cell::control)
//   bit  29      room_wanted: a sender waits for room
//   bits 30..35  the low bits of the generation
//   bits 36..63  tail: the ticket of the next message (see mail_ring.hpp). Highest, so that an addition to it changes
//                nothing else
//
// Invariants
//
//  W1 A ticket is reserved only while `open`, by the same compare-exchange that checks the generation's low bits; or by
//     a sender that has passed the mailbox's gate (mail_gate.hpp).
//
//  W2 An actor that is `running` has one owner: the team whose compare-exchange set the bit. Only the owner takes
//     messages.
//
//  W3 The owner clears `running` with an exchange on the whole word that it has seen; if mail is left, the same
//     exchange
//  queues the actor. So no wake-up is lost, and no fence is needed between "look for mail" and "go idle".
//
//  W4 Each band's queue holds an actor at most once (the pusher sets the bit, the popper clears it). No queue holds a
//  pinned actor, but entries of earlier actors of its cell may still be there.
//
//  W5 A word that holds a ring cannot recur, because the ring's tickets only grow. A word without one has the
//     generation.
#pragma once

#include "kernels/base/message.hpp"

namespace rondo {

inline constexpr int ready_bands = 4;

/// The ready queue's band of a priority. Band 0 is served first; the default priority has a lower band than raised
/// ones.
RONDO_HD constexpr int band_of(std::uint8_t priority) noexcept {
  return priority >= 192 ? 0 : priority > 128 ? 1 : priority >= 64 ? 2 : 3;
}

/// Tickets count messages per ring, modulo 2^28.
inline constexpr std::uint32_t ticket_mask = 0x0fff'ffffu;

class actor_word {
 public:
  static constexpr std::uint64_t running = 1ull << 24, open = 1ull << 25, paused = 1ull << 26,
                                 pinned = 1ull << 27, signalled = 1ull << 28, room_wanted = 1ull << 29;
  static constexpr std::uint64_t queued_mask = 0xfull << 20, ring_mask = 0xf'ffffull,
                                 flag_mask = 0x3ffull << 20;

  RONDO_HD constexpr explicit actor_word(std::uint64_t bits) noexcept : bits_(bits) {}

  RONDO_HD constexpr std::uint64_t bits() const noexcept { return bits_; }
  RONDO_HD constexpr std::uint32_t tail() const noexcept {
    return static_cast<std::uint32_t>(bits_ >> tail_shift);
  }
  RONDO_HD constexpr std::uint32_t ring() const noexcept {
    return static_cast<std::uint32_t>(bits_ & ring_mask);
  }
  RONDO_HD constexpr bool has(std::uint64_t flag) const noexcept { return (bits_ & flag) != 0; }
  RONDO_HD constexpr bool queued() const noexcept { return has(queued_mask); }
  RONDO_HD constexpr bool of_generation(std::uint32_t generation) const noexcept {
    return ((bits_ >> generation_shift ^ generation) & 0x3f) == 0;
  }

  RONDO_HD constexpr actor_word with(std::uint64_t flag) const noexcept { return actor_word{bits_ | flag}; }
  RONDO_HD constexpr actor_word without(std::uint64_t flag) const noexcept {
    return actor_word{bits_ & ~flag};
  }
  RONDO_HD constexpr actor_word with_tail(std::uint32_t tail) const noexcept {
    return actor_word{(bits_ & ((1ull << tail_shift) - 1)) | tickets(tail)};
  }
  RONDO_HD constexpr actor_word with_ring(std::uint32_t ring) const noexcept {
    return actor_word{(bits_ & ~ring_mask) | ring};
  }
  RONDO_HD constexpr actor_word with_generation(std::uint32_t generation) const noexcept {
    return actor_word{(bits_ & ~(0x3full << generation_shift)) | std::uint64_t{generation & 0x3f}
                                                                     << generation_shift};
  }
  /// The word once `count` tickets more are taken.
  RONDO_HD constexpr actor_word after(std::uint32_t count) const noexcept {
    return actor_word{bits_ + tickets(count)};
  }
  /// What an addition to the bits takes: this many tickets.
  RONDO_HD static constexpr std::uint64_t tickets(std::uint32_t count) noexcept {
    return std::uint64_t{count} << tail_shift;
  }

  /// The word of an actor that is idle and holds no ring.
  RONDO_HD static constexpr actor_word idle(std::uint32_t generation) noexcept {
    return actor_word{open}.with_generation(generation);
  }
  RONDO_HD static constexpr std::uint64_t queued_in(int band) noexcept { return 1ull << (20 + band); }

  /// Whether a message of `band` must put the actor in that band's queue: it is not running, not paused, and not
  /// in a queue that is served at least as soon. Urgent mail also queues an actor that is running, because its owner
  /// may be about to release it without having seen the message. For a pinned actor, "queueing" rings its team's
  /// doorbell.
  RONDO_HD constexpr bool needs_queueing(int band) const noexcept {
    if (has(pinned)) return !has(running | paused);
    std::uint64_t const as_urgent = ((2ull << band) - 1) << 20;
    std::uint64_t const served = band < band_of(default_priority) ? paused : running | paused;
    return !has(served | as_urgent);
  }
  /// The word with the bit of that queue set; unchanged for a pinned actor.
  RONDO_HD constexpr actor_word queued_for(int band) const noexcept {
    return has(pinned) ? *this : with(queued_in(band));
  }

 private:
  static constexpr int generation_shift = 30, tail_shift = 36;

  std::uint64_t bits_;
};

}  // namespace rondo
