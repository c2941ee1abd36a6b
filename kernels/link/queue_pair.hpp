// A queue pair: the two rings between a host and a device with its own memory. Submissions go down, completions up.
//
// Ownership: none. The host side of the device allocates both rings (runtime/device/queue/host_queues.hpp).
// Threads: down: any host thread writes, the I/O team (kernels/grid/io_team.hpp) reads. up: any team writes, one host thread reads.
//
// Invariants, in addition to those of each ring (bus_ring.hpp)
//  L1 Only loads and stores cross the bus: a ring's tickets are atomics on its writers' side only.
//  L2 Submissions of one host thread that concern the same actor are processed in the order submitted (its tickets grow, and the
//     one reader takes tickets in order). Hence G2 holds across the bus, and a launch precedes the posts that follow it.
//  L3 A submission has one outcome: it reaches the target's mailbox, or each message gets one completion with the reason.
//  L4 A batch is one group of tickets, so it arrives whole.
// Ordering: the edges `publish` and `reuse` of each ring; the two rings are ordered only through the actors.
#pragma once

#include "kernels/link/bus_ring.hpp"
#include "kernels/link/device_event.hpp"

namespace rondo {

enum class submission_kind : std::uint8_t {
  post,          // `count` messages to `to`: this one and the rest of its group, of which only `body` counts
  launch,        // the payload is a launch_spec
  signal,        // `count` holds control_bits for `to`
  open_buffer,   // the payload is a buffer_order
  close_buffer,  // likewise; `base` is unused
};

/// A buffer in the device's memory that the host has acquired or released.
struct buffer_order {
  buffer_ref ref;      // the whole buffer
  std::uint64_t base;  // its address on the device
};

/// A command from the host to the device. Its completion is a device_event.
struct submission {
  submission_kind kind;
  std::uint32_t count;
  actor_id to;
  actor_id ack;  // a host ask that the outcome completes; invalid: none
  message body;
};
static_assert(sizeof(submission) == 160 && std::is_trivially_copyable_v<submission>);

/// Without the unused end of the payload.
template <>
struct bus_extent<submission> {
  static constexpr std::uint32_t head_words = (offsetof(submission, body) + offsetof(message, payload)) / 4;
  RONDO_HD static constexpr std::uint32_t words(submission const& s) noexcept {
    return head_words + payload_words(s.body.bytes);
  }
};

template <class Bus = prompt_bus>
struct queue_pair_ref {
  bus_ring_ref<submission, Bus> down;
  bus_ring_ref<device_event, Bus> up;
};

}  // namespace rondo
