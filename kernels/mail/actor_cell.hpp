// An actor's fixed record in the arena: its word, its place in its mail ring, its counters. 384 bytes.
//
// Ownership: a cell belongs to one actor from launch to termination, then to a successor with the next
// generation. Threads: `sender_line` fields are read by every sender; `word`, `alert` and `control` are the
// only ones written by others than the owner. Everything under "owner" is touched by the team that runs the
// actor alone (W2).
#pragma once

#include "kernels/base/counters.hpp"
#include "kernels/base/message.hpp"
#include "kernels/base/status.hpp"
#include "kernels/mail/actor_word.hpp"

namespace rondo {

/// `discarding` is `terminating` without handling what waits. A failed actor is terminated by its
/// supervision.
enum class lifecycle : std::uint32_t {
  free,
  launched,
  active,
  deactivated,
  terminating,
  discarding,
  terminated,
  failed
};

/// What an owner is asked to do before it looks at its mail again; bits of actor_cell::control.
enum control_bits : std::uint32_t {
  control_activate = 1,
  control_deactivate = 2,
  control_drain = 4,        // handle what waits, then terminate
  control_discard = 8,      // dead-letter what waits, then terminate
  control_inspect = 16,     // report depths to the host
  control_start = 32,       // run the behaviour's on_start
  control_sleep_last = 64,  // with both of the first two (after a restore): deactivating came last
};

inline constexpr std::uint32_t control_mask = 0xff;

/// The cell's control word for an actor of `generation`: a control operation that is late, and finds a successor,
/// must not reach it.
RONDO_HD constexpr std::uint32_t control_for(std::uint32_t generation, std::uint32_t bits) noexcept {
  return generation << 8 | bits;
}

/// `asked` and one operation more. Of activating and deactivating the later one decides; both are carried out, and told.
RONDO_HD constexpr std::uint32_t with_control(std::uint32_t asked, std::uint32_t control) noexcept {
  if (control == control_activate) asked &= ~std::uint32_t{control_sleep_last};
  if (control == control_deactivate) asked |= control_sleep_last;
  return asked | control;
}

enum class on_failure : std::uint8_t { restart, stop, escalate };

/// How an actor that failed goes on. A rule with more than `max_restarts` restarts within `within_ms` stops
/// it.
struct supervision {
  on_failure rule = on_failure::restart;
  std::uint8_t poison_after = 3;  // attempts until a message is quarantined; 1 to max_attempts
  std::uint16_t max_restarts = 8;
  std::uint32_t within_ms = 1000;
};

/// Lines that different threads write at a high rate stand in different pairs of lines: processors fetch
/// pairs.
struct alignas(128) actor_cell {
  // -- senders: written for each message
  atomic<std::uint64_t> word;
  atomic<std::uint32_t> generation;
  atomic<std::uint32_t> capacity;         // messages; exact; a stale sender may read a successor's
  atomic<std::uint32_t> behaviour_index;  // in the module; a snapshot may read a successor's
  atomic<std::uint32_t> state;            // lifecycle
  supervision supervise;
  std::uint64_t state_offset;     // of the behaviour's object in the arena
  std::uint64_t window_start_ns;  // owner: start of the restart window
  std::uint32_t window_restarts;  // owner
  atomic<std::uint32_t> team;     // of a pinned actor; a late sender may ring a successor's, in vain

  latency_histogram latency;  // its first line, in the senders' pair, counts the longest durations

  // -- owner: touches nothing else of the cell for each message
  alignas(128) std::uint32_t head;  // ticket of the oldest message not yet given back
  std::uint32_t
      scanned;  // messages head..scanned are in the priority lists; equal to head: the priority lists is empty
  std::uint64_t levels[4];  // the priority lists's map of non-empty priorities
  std::uint32_t alert_seen;
  std::uint32_t overtakes;          // since the oldest message was last taken
  atomic<std::uint32_t> tail_seen;  // tickets of totals.counted_ring up to here are in totals.accepted
  atomic<std::uint32_t> held_ring;  // the ring that head and scanned count in; 0: none
  atomic<std::uint32_t> control;    // control_bits for the generation in its upper bits; see control_for
  atomic<std::uint32_t>
      alert;  // written by senders: counts committed messages of other than the default priority

  published_totals totals;

  /// Relaxed: for who runs the actor, or found it by its word.
  RONDO_HD std::uint16_t behaviour() const noexcept {
    return static_cast<std::uint16_t>(behaviour_index.load(memory_order::relaxed));
  }
};
static_assert(sizeof(actor_cell) == 384);

}  // namespace rondo
