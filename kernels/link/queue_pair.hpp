// A queue pair: the rings between a host and a device with its own memory. Submissions go down, completions up. A
// pinned team has a ring of its own, the direct one, for the submissions to its actor: so they need no other team on
// their way.
//
// Ownership: none. The host side of the device allocates all rings (runtime/device/queue/queue_device.hpp).
// Threads: down: any host thread writes, the I/O team (kernels/grid/io_team.hpp) reads. direct: any host thread writes,
// the pinned team reads. up: any team writes, one host thread reads.
//
// Invariants, in addition to those of each ring (bus_ring.hpp)
//  L1 Only loads and stores cross the bus: a ring's tickets are atomics on its writers' side only.
//  L2 Submissions of one host thread that concern the same actor are processed in the order submitted: they go through
//     one ring, whose one reader takes tickets in order. Hence G2 holds across the bus. But launches and orders for
//     buffers go down: in a direct ring, `await_orders` precedes the first submission that may need one of them.
//  L3 A submission has one outcome: it reaches the target's mailbox, or each message gets one completion with the
//     reason.
//  L4 A batch is one group of tickets, so it arrives whole.
//  L5 A message for which nobody waits is not lost for want of room (G5). It goes back to the host
//     (event_kind::returned) and ends the epoch of its mailbox. All later messages of that epoch find the mailbox full,
//     or go back, too, even if there is room by then. So the host can send them again in their order (G2), in the next
//     epoch: runtime/messaging/mail_lines.hpp. A sender that has its ticket checks the epoch once more. So all messages
//     of an epoch have lower tickets than those of the next. Messages for the reserved room of a mailbox have other
//     priorities than the rest, so they have epochs of their own.
// Ordering: the edges `publish` and `reuse` of each ring; the two rings are ordered only through the actors.
#pragma once

#include "kernels/link/bus_ring.hpp"
#include "kernels/link/device_event.hpp"

namespace rondo {

enum class submission_kind : std::uint8_t {
  nothing,       // its sender found the epoch over (L5)
  post,          // a message to `to`, and those of its batch that follow: `count` with this one
  arguments,     // the payload is the launch_arguments of a launch that follows
  launch,        // the payload is a launch_spec
  signal,        // `count` holds control_bits for `to`
  open_buffer,   // the payload is a buffer_order
  close_buffer,  // likewise; `base` is unused
  await_orders,  // of a direct ring: until the I/O team has taken the tickets below the one in the payload
};

/// A mailbox's epoch, as submissions carry it: a number that wraps, and whether it is that of the reserved room.
struct mail_epoch {
  std::uint16_t bits = 0;
  RONDO_HD static constexpr mail_epoch first(bool reserved) noexcept {
    return {static_cast<std::uint16_t>(reserved ? 0x8000 : 0)};
  }
  RONDO_HD constexpr bool reserved() const noexcept { return (bits & 0x8000) != 0; }
  RONDO_HD constexpr std::uint16_t number() const noexcept { return bits & 0x7fff; }
  RONDO_HD constexpr mail_epoch next() const noexcept {
    return {static_cast<std::uint16_t>((bits & 0x8000) | ((bits + 1) & 0x7fff))};
  }
  friend constexpr bool operator==(mail_epoch, mail_epoch) = default;
};

/// How a post is ordered with others to the same mailbox.
enum class post_order : std::uint8_t {
  apart,  // not at all (a timer's, for example): a dead letter if there is no room
  in_epoch,  // refused once its epoch is over; an ask or an ack is told of a refusal, any other message goes back
  resent,  // in_epoch, for a message that waits in the host without a sender: it goes back whatever refuses it; then
           // its ack is told
};

/// Whether a later submission in another ring may need what this one does.
RONDO_HD constexpr bool is_awaited(submission_kind kind) noexcept {
  return kind == submission_kind::launch || kind == submission_kind::open_buffer;
}

/// A buffer in the device's memory that the host has acquired or released.
struct buffer_order {
  buffer_ref ref;      // the whole buffer
  std::uint64_t base;  // its address on the device
};

/// A command from the host to the device. Its completion is a device_event.
struct submission {
  submission_kind kind;
  post_order how;    // of a post
  mail_epoch epoch;  // of a post that is not `apart`
  std::uint32_t count;
  actor_id to;
  actor_id ack;  // a host ask that the outcome completes; invalid: none
  message body;
};
static_assert(sizeof(submission) == 160 && std::is_trivially_copyable_v<submission>);
/// What of it is a message: something with a header and a payload.
RONDO_HD inline message const& message_in(submission const& s) noexcept { return s.body; }

/// Without the unused end of the payload.
template <>
struct bus_extent<submission> {
  static constexpr std::uint32_t head_words = (offsetof(submission, body) + offsetof(message, payload)) / 4;
  RONDO_HD static constexpr std::uint32_t words(submission const& s) noexcept {
    return head_words + payload_words(s.body.bytes);
  }
};

/// The submissions to one pinned team.
template <class Bus>
struct direct_ring {
  bus_ring_ref<submission, Bus> ring;
  // -- written by the host
  // All messages whose priority is not the default have lower tickets. Raised before the call that sent one returns.
  atomic<std::uint64_t, scope::system> urgent;
  // 1: the team may sleep, and there is something for it; only where teams sleep. The I/O team clears it: see
  // wake_pinned_teams.
  atomic<std::uint32_t, scope::system> rung;
  // Set before a request: to pause, the team first takes the tickets below this one. Otherwise 0.
  atomic<std::uint64_t, scope::system> last;
};

template <class Bus = prompt_bus>
struct queue_pair_ref {
  bus_ring_ref<submission, Bus> down;
  bus_ring_ref<device_event, Bus> up;
  direct_ring<Bus>* direct = nullptr;  // one for each pinned team; in memory that both sides reach
  std::uint32_t direct_rings = 0;
};

}  // namespace rondo
