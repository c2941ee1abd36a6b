// An actor as its host knows it: its options and its location.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "kernels/actor/launch.hpp"

namespace rondo {

/// A capacity for the mailbox of each of many actors.
struct each_capacity {
  std::span<std::uint32_t const> of;  // in the order of the actors
};

/// How an actor is launched.
struct actor_options {
  std::uint32_t device = 0;                 // index in the runtime's list of devices
  std::optional<std::uint32_t> capacity{};  // in messages, at least 1; empty: the runtime's default_capacity
  /// Has its own team, which polls its mailbox: the lowest latency. On a device with its own memory that team also
  /// takes what hosts send, between two handlers: so the outcome of an awaited tell waits for the handler that runs.
  bool pinned = false;
  bool active = true;               // false: keeps its mail until it is activated
  reserved_room reserve{};          // slots for urgent messages alone
  std::uint32_t batch = max_batch;  // the most messages that a batch handler gets at once; 1 to 64
  supervision supervise{};          // what follows a failure
};

/// A runtime's directory entry of an actor.
struct listed_actor {
  actor_id id;                    // of this life
  std::string name;               // empty: it has none
  std::uint16_t behaviour = 0;    // index in the module
  bool live = false;              // false: the entry is free
  std::uint64_t state_bytes = 0;  // of its state, in the arena
  actor_options options;          // with which it was launched
  launch_spec spec{};             // what its device was told
  std::uint64_t begun_ns = 0;     // on the host's clock: when it was launched, or restored from a checkpoint
  std::uint64_t handled_before = 0;  // messages that it had handled when it was restored
};

/// Of such an entry, what a copy of many needs.
struct living_actor {
  actor_id id;                  // of this life
  std::uint16_t behaviour = 0;  // index in the module
  std::string name;             // empty: it has none
};

/// The room for actors on a device.
struct actor_room {
  std::uint64_t actors = 0;             // as many as fit
  std::uint64_t free_actors = 0;        // as many more fit
  std::uint64_t bytes = 0;              // for their states, and for mailboxes above default_capacity
  std::uint64_t free_bytes = 0;         // what is left of them
  std::uint64_t pinned_teams = 0;       // each serves one pinned actor
  std::uint64_t free_pinned_teams = 0;  // that serve none
  /// Shared mail rings. An actor with mail holds one, unless its mailbox is larger than a ring.
  std::uint64_t rings = 0;
  std::uint32_t ring_slots = 0;  // messages in such a ring
};

}  // namespace rondo
