// The two rings between a host and a device with memory of its own: submissions down, completions up.
//
// Ownership: none; the device's host side allocates both rings (runtime/device/queue/host_queues.hpp).
// Threads: down: any host thread writes, the I/O team (kernels/grid/io_team.hpp) reads. up: any team writes, one host thread reads.
//
// Invariants, in addition to those of each ring (bus_ring.hpp)
//  L1 Only loads and stores cross the bus: a ring's tickets are atomics of its writers' side alone.
//  L2 Submissions of one host thread are processed in the order submitted (its tickets grow, and the one reader takes tickets in
//     order). Hence G2 across the bus, and a launch before the posts that follow it.
//  L3 A submission ends once: in the target's mailbox, or in one completion per message that gives the reason.
//  L4 A batch is one group of tickets, so it arrives whole.
// Ordering: the edges `publish` and `reuse` of each ring; the two rings are ordered only through the actors.
#pragma once

#include "kernels/link/bus_ring.hpp"
#include "kernels/link/host_record.hpp"

namespace rondo {

enum class submission_kind : std::uint8_t {
  post,    // `count` messages to `to`: this one and the group behind it, which share its header and `bytes`
  launch,  // the payload is a launch_spec
  signal,  // `count` holds control_bits for `to`
  open_buffer,   // the payload is a buffer_order
  close_buffer,  // likewise; `base` means nothing
};

/// A buffer in the device's memory, as the host has acquired or released it.
struct buffer_order {
  buffer_ref ref;      // all of it
  std::uint64_t base;  // its address on the device
};

/// What the host asks of the device. A completion is a host_record.
struct submission {
  submission_kind kind;
  std::uint32_t count;
  actor_id to;
  actor_id ack;  // a host's ask that ends with the outcome; invalid: none
  message body;
};
static_assert(sizeof(submission) == 160 && std::is_trivially_copyable_v<submission>);
static_assert(sizeof(bus_slot<submission>) == 192 && sizeof(bus_slot<host_record>) == 192,
              "three lines; the third is touched by payloads of more than 48 bytes only");

template <class Bus = prompt_bus>
struct queue_pair_ref {
  bus_ring_ref<submission, Bus> down;
  bus_ring_ref<host_record, Bus> up;
};

}  // namespace rondo
