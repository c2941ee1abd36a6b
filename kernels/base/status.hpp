// The outcomes of operations on messages, actors, and buffers; the same numbers on host and device. Portable code
// (kernels/portable/language.hpp) has them, too.
#pragma once

namespace rondo {

/// Normal outcomes are values of this type; the host also sees them as boost::system::error_code.
enum class errc : unsigned {
  ok = 0,
  mailbox_full,          // the mailbox holds as many messages as its capacity
  arena_full,            // no mail block is free for an actor that holds none; raise `mail_blocks`
  actor_gone,            // the actor has terminated (a successor may use its place)
  timed_out,             // the deadline passed before the answer arrived, or before the message was handled
  cancelled,             // the asker stopped waiting
  handler_failed,        // the handler reported an error with context::fail
  quarantined,           // the message failed its actor as often as its supervision allows
  terminated,            // the actor was terminated while this message waited
  unknown_message,       // the actor does not take messages of this type
  no_reply,              // the handler of an ask returned without calling context::reply
  device_lost,           // the device faulted; restart the runtime
  stopped,               // the runtime is stopping or has stopped
  device_busy,           // the queue to the device is full; try again
  actor_limit,           // all actor cells or all pinned teams are in use; raise `actors` or `pinned_teams`
  out_of_memory,         // the arena has no free block of this size
  name_taken,            // another actor has this name
  not_found,             // no such actor
  payload_too_large,     // more than 96 bytes
  stale_buffer,          // the buffer was released; its place may hold other data
  buffer_out_of_bounds,  // the range lies outside the buffer
  buffer_in_use,         // a lease forbids this access
  double_release,        // the buffer was already released
  pool_exhausted,        // the pool's cap of bytes is reached
  ask_limit,             // too many asks are pending; raise `asks`
  buffer_elsewhere,      // the buffer is in the memory of another device or of the host
  buffer_empty,          // nothing has been written to the buffer yet
  wrong_state,           // the actor's lifecycle state does not allow this
  no_graph,              // a captured actor has no graph, or is not on a `cpu` device
  peer_gone,             // the process on the other side has exited or was disconnected
  wrong_size,            // the payload's size does not match its message type
  outcome_unknown,       // the service stopped with the message in flight; it may have been handled
  service_refuses,       // the service does not allow this client to do this; its text says why
  would_deadlock,     // the calling thread would wait for itself, or for threads that a fork has left behind
  batch_too_large,    // the batch has more messages than the mailbox, or the queue to the device, holds
  wrong_reply,        // the handler replied with another type than its message declares
  exception_thrown,   // the handler threw an exception, on a host thread
  unknown_behaviour,  // the runtime's module does not have this behaviour
  table_full,  // a router has no place for another member, or topics have none for another subscription
  deadline_too_long,  // a message's deadline is more than a day away
  no_room,  // a reader in another process has as many buffers as it may have; try again when it has given one back
  too_many_restarts,  // the children of a supervisor failed more often than its strategy allows
  slots_exhausted,    // all slots of the pool or the exporter are in use, whatever their sizes
};

}  // namespace rondo
