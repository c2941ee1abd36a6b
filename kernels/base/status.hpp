// The outcomes that a message, an actor or a buffer can meet; the same numbers on host and device.
#pragma once

#include "kernels/base/portable.hpp"

namespace rondo {

/// Normal outcomes are values of this type; the host also sees them as boost::system::error_code.
enum class errc : std::uint32_t {
  ok = 0,
  mailbox_full,     // the target holds as many messages as its capacity
  arena_full,       // no mail block is left for an actor that had none; raise `mail_blocks`
  actor_gone,       // the ref's actor has terminated (or its place belongs to a successor)
  timed_out,        // the deadline passed before the answer, or before the message's turn
  cancelled,        // the asker gave up
  handler_failed,   // the handler reported an error with context::fail
  quarantined,      // the message failed its actor as often as its supervision allows
  terminated,       // the actor was terminated with this message still waiting
  unknown_message,  // the actor does not take messages of this type
  no_reply,         // the handler of an ask ended without context::reply
  device_lost,      // the device faulted; the runtime can be started again
  stopped,          // the runtime is stopping or has stopped
  device_busy,      // the way to the device is full; try again
  actor_limit,  // all actor cells, or all teams for pinned ones, are in use; raise `actors` or `pinned_teams`
  out_of_memory,         // the arena has no room of this size left
  name_taken,            // an actor of this name lives already
  not_found,             // no such actor
  payload_too_large,     // more than 96 bytes
  stale_buffer,          // the buffer was released, and its place may hold other data
  buffer_out_of_bounds,  // the range lies outside the buffer
  buffer_in_use,         // a lease forbids this access
  double_release,        // the buffer was released before
  pool_exhausted,        // the pool's cap is reached
  ask_limit,             // too many asks are waiting; raise `asks`
  buffer_elsewhere,      // the buffer is in the memory of another device, or of the host
  buffer_empty,          // nothing was written into the buffer yet
  wrong_state,           // the actor's lifecycle state does not allow this
  no_graph,              // a captured actor has no graph, or does not live on a device `cpu`
  peer_gone,             // the process on the other side has ended, or was cut off
  wrong_size,            // the payload's size is not that of a message of this type
  outcome_unknown,       // the service ended while the message was on its way: it may have been handled
  service_refuses,       // a service does not do this for this client; its text says why
};

}  // namespace rondo
