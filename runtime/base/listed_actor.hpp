// An actor as its host knows it: its options, and where it lives.
#pragma once

#include <optional>
#include <string>

#include "kernels/actor/launch.hpp"

namespace rondo {

/// How an actor is launched.
struct actor_options {
  std::uint32_t device = 0;                 // its place in the runtime's list of devices
  std::optional<std::uint32_t> capacity{};  // messages; at least 1; empty: the runtime's default_capacity
  bool pinned = false;                      // it owns a team that polls its mailbox: the lowest latency
  bool active = true;                       // false: it keeps its mail until it is activated
  supervision supervise{};
};

/// What a runtime's directory holds of an actor.
struct listed_actor {
  actor_id id;
  std::string name;
  std::uint16_t behaviour = 0;  // its place in the module
  bool live = false;
  std::uint64_t state_bytes = 0;
  actor_options options;
  launch_spec spec{};
};

}  // namespace rondo
