// Requests of an actor to its host, and the messages with which the host answers. List those among the actor's
// messages.
//
// A request travels as a device_event; see context. The host carries out an actor's requests in the order in which it
// made them.
#pragma once

#include "kernels/mail/actor_cell.hpp"

namespace rondo {

/// The most bytes of a behaviour's launch arguments.
inline constexpr std::size_t max_argument_bytes = 64;

/// An actor for which this one has set a watch has ended. `reason`: ok: it was terminated; actor_gone: it had ended
/// before; otherwise the failure that stopped it.
struct ended {
  actor_id who;  // the actor that has ended
  errc reason;   // why
};

/// The outcome of context::launch, whose correlation it has. `reason`: ok, or why there is no actor.
struct launched {
  actor_id who;  // the child
  errc reason;   // ok, or why there is none
};

/// A child with the rule `escalate` has failed, and is deactivated until its parent calls context::restart or
/// context::terminate.
struct child_failed {
  actor_id who;  // the child
  errc reason;   // of its failure
};

/// What happens to the waiting mail of an actor that is terminated.
enum class termination : std::uint32_t {
  drain,   // handle the waiting messages first
  discard  // the waiting messages become dead letters, or are rejected
};

/// How an actor's timer goes on.
struct timer_options {
  bool repeats = false;                      // at multiples of its time, until it is cancelled
  std::uint8_t priority = default_priority;  // of its messages
};

/// How an actor launches a child.
struct child_options {
  std::uint32_t capacity = 0;  // of its mailbox; 0: the default
  bool pinned = false;         // as in actor_options
  supervision supervise{};     // likewise; `escalate` asks the parent
};

/// The detail of a `set_timer` event.
struct timer_request {
  std::uint64_t bits;  // microseconds, and whether it repeats in the lowest bit
  /// For this time.
  RONDO_HD static constexpr timer_request of(std::uint64_t us, bool repeats) noexcept {
    return {us << 1 | std::uint64_t{repeats}};
  }
  /// Its time in microseconds.
  RONDO_HD constexpr std::uint64_t us() const noexcept { return bits >> 1; }
  /// Whether it repeats.
  RONDO_HD constexpr bool repeats() const noexcept { return (bits & 1) != 0; }
};

/// The detail of a `bond` event: what its actor is to the other one from now on, or no longer.
enum class bond_request : std::uint32_t { watch, unwatch, link, unlink, parent };

/// The payload of a `launch_child` event.
struct child_request {
  child_options options;                               // of the launch
  std::uint32_t argument_bytes;                        // 0: the default arguments
  alignas(8) std::byte arguments[max_argument_bytes];  // for its on_start
};
static_assert(sizeof(child_request) <= max_payload_bytes && std::is_trivially_copyable_v<child_request>);

}  // namespace rondo
