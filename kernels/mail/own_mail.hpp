// Mail that an actor asked for. It takes no slot of a mailbox: a bit for each kind is enough, and it never finds the
// mailbox full.
#pragma once

#include "kernels/base/message.hpp"

namespace rondo {

/// The actor goes on: context::again. List it among the actor's messages.
struct again {};
/// A mailbox in which the actor waited for room may have some, or is gone: context::when_room. List it among the
/// actor's messages.
struct room {};

/// What waits for an actor.
enum own_mail_bits : std::uint32_t { own_again = 1, own_room = 2 };

/// An actor's list of those that wait for room in its mailbox, and its own place in another's list; see room_list.hpp.
struct room_list {
  atomic<std::uint32_t> first;    // index + 1 of an actor that waits for this one's mailbox; 0: none does
  atomic<std::uint32_t> next;     // index + 1 of another actor that waits for the same mailbox as this one
  atomic<std::uint32_t> is_used;  // 1: `next` and what follows are, perhaps by an earlier actor of the cell
  std::uint32_t generation;       // of the waiting actor
  actor_id awaited;               // whose mailbox it is; only for the waiting actor
};

}  // namespace rondo
