// An actor's fixed records in the arena: a cell of 64 bytes, with what senders need to know of it, and an owner cell of
// 320 bytes, with what the team that runs it needs from one turn to the next: its position in its mail ring, its
// counters. They are in two arrays, because of a million idle actors no owner cell is ever touched: zeroed memory is
// that of an actor that has not had a turn. arena_ref::owner leads from one to the other.
//
// Ownership: both belong to one actor from launch to termination, then to a successor with the next generation.
// Threads: every sender reads the cell. Only `word`, `gate`, `announced`, and `control` are written by threads other
// than the owner. Only the team that runs the actor touches the rest of the owner cell (W2).
#pragma once

#include "kernels/base/counters.hpp"
#include "kernels/base/message.hpp"
#include "kernels/base/status.hpp"
#include "kernels/mail/actor_word.hpp"
#include "kernels/mail/mail_gate.hpp"
#include "kernels/mail/own_mail.hpp"

namespace rondo {

/// `discarding` is `terminating` without handling the waiting messages. `failed`: the actor's supervision terminated
/// it.
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

// -- for the runtime

/// Operations that the owner carries out before it looks at its mail again; bits of owner_cell::control.
enum control_bits : std::uint32_t {
  control_activate = 1,
  control_deactivate = 2,
  control_drain = 4,        // handle the waiting messages, then terminate
  control_discard = 8,      // dead-letter the waiting messages, then terminate
  control_inspect = 16,     // report depths to the host
  control_start = 32,       // run the behaviour's on_start
  control_sleep_last = 64,  // with both of the first two (after a restore): deactivation came last
  control_construct = 128,  // construct a fresh state, then run on_start
  control_again = 256,      // the actor gets `again` (own_mail.hpp)
  control_room = 512,       // likewise `room`
};

inline constexpr int control_width = 12;
inline constexpr std::uint32_t control_mask = (1u << control_width) - 1;

/// The control word for an actor of `generation`. The generation keeps a late control operation from reaching a
/// successor. Zeroed memory is that of a cell's first actor, of generation 1, too.
RONDO_HD constexpr std::uint32_t control_for(std::uint32_t generation, std::uint32_t bits) noexcept {
  return generation << control_width | bits;
}

/// Adds one operation to `asked`. Activate and deactivate are both carried out and reported; the later one decides.
RONDO_HD constexpr std::uint32_t with_control(std::uint32_t asked, std::uint32_t control) noexcept {
  if (control == control_activate) asked &= ~std::uint32_t{control_sleep_last};
  if (control == control_deactivate) asked |= control_sleep_last;
  return asked | control;
}

// -- for programs

/// The rule of a supervision: a fresh state, the end of the actor, or the end of the whole runtime; for an actor that
/// another one launched, `escalate` is a request to that one. `ask_parent`: what the host makes of it then.
enum class on_failure : std::uint8_t { restart, stop, escalate, ask_parent };

/// What happens to an actor that fails. More than `max_restarts` restarts within `within_ms` stop it.
struct supervision {
  on_failure rule = on_failure::restart;  // what follows a failure
  std::uint8_t poison_after = 3;          // attempts until a message is quarantined; 1 to max_attempts
  std::uint16_t max_restarts = 8;         // within within_ms
  std::uint32_t within_ms = 1000;         // see max_restarts
};

/// Slots of a mailbox that only messages of at least the priority `from` may take: an alert finds room behind a flood.
struct reserved_room {
  std::uint32_t slots = 0;  // of the capacity; 0: none
  std::uint8_t from = 192;  // the lowest priority that may take them
};

// -- for the runtime

/// How many messages may wait in a mailbox.
class mailbox_limits {
 public:
  RONDO_HD constexpr mailbox_limits(std::uint32_t capacity, reserved_room reserved) noexcept
      : bits_(capacity | std::uint64_t{reserved.slots} << 28 | std::uint64_t{reserved.from} << 56) {}
  RONDO_HD constexpr explicit mailbox_limits(std::uint64_t bits) noexcept : bits_(bits) {}

  RONDO_HD constexpr std::uint64_t bits() const noexcept { return bits_; }
  RONDO_HD constexpr std::uint32_t capacity() const noexcept {
    return static_cast<std::uint32_t>(bits_) & ticket_mask;
  }
  RONDO_HD constexpr reserved_room reserved() const noexcept {
    return {static_cast<std::uint32_t>(bits_ >> 28) & ticket_mask, static_cast<std::uint8_t>(bits_ >> 56)};
  }
  /// When a message of this priority comes.
  RONDO_HD constexpr std::uint32_t of(std::uint8_t priority) const noexcept {
    auto const [slots, from] = reserved();
    return priority < from ? capacity() - slots : capacity();
  }

 private:
  std::uint64_t bits_;
};

/// What an owner needs to know when its turn begins.
struct turn_terms {
  std::uint16_t bits;
  RONDO_HD static constexpr turn_terms of(std::uint32_t batch, std::uint32_t own_mail) noexcept {
    return {static_cast<std::uint16_t>(batch | own_mail << 8)};
  }
  /// The most messages that a batch handler gets at once.
  RONDO_HD constexpr std::uint32_t batch() const noexcept { return bits & 0xff; }
  RONDO_HD constexpr std::uint32_t own_mail() const noexcept { return bits >> 8; }  // own_mail_bits
};

/// What senders read, and write for each message.
struct alignas(64) actor_cell {
  atomic<std::uint64_t> word;
  mail_gate gate;                // where the arena has gates
  atomic<std::uint64_t> limits;  // mailbox_limits, exact; a stale sender may read a successor's
  atomic<std::uint32_t> generation;
  atomic<std::uint32_t> behaviour_index;  // in the module; a snapshot may read a successor's
  atomic<std::uint32_t> state;            // lifecycle
  atomic<std::uint32_t> team;             // of a pinned actor; a late sender may wake a successor's in vain
  supervision supervise;
  std::uint64_t state_offset;     // of the behaviour's object in the arena
  std::uint32_t window_start_ms;  // owner: start of the restart window
  std::uint16_t window_restarts;  // owner
  turn_terms turn;                // an owner keeps its own copy

  /// For the team that runs the actor.
  RONDO_HD std::uint16_t behaviour() const noexcept {
    return static_cast<std::uint16_t>(behaviour_index.load_own());
  }
  /// For others. Relaxed: perhaps a successor's.
  RONDO_HD std::uint16_t some_behaviour() const noexcept {
    return static_cast<std::uint16_t>(behaviour_index.load(memory_order::relaxed));
  }
};
static_assert(sizeof(actor_cell) == 64);

/// What only the actor's owner touches, but for two words. Its first line is touched for each message.
struct alignas(64) owner_cell {
  std::uint32_t head;               // ticket of the oldest message not yet given back
  std::uint32_t linked;             // messages in the priority lists, the stash, and the pending ones
  std::uint64_t levels[4];          // bitmap of the priorities whose lists are not empty
  std::uint32_t first_plain;        // the messages from head up to here are linked; only if `linked` is not 0
  std::uint32_t overtakes;          // since the oldest message was last taken
  atomic<std::uint32_t> tail_seen;  // tickets of totals.counted_ring before this one are in totals.accepted
  atomic<std::uint32_t> held_ring;  // the ring that head counts in; 0: none
  atomic<std::uint32_t> control;    // control_bits, with the generation in the upper bits; see control_for
  atomic<std::uint32_t>
      announced;  // written by senders: slot + 1 of the latest message whose priority is not the default

  published_totals totals;
  latency_histogram latency;  // its last line, which is written least often, lies beside another actor's

  /// Whether as many messages wait as there may, `capacity`, as of a moment.
  RONDO_HD bool is_full(actor_word then, std::uint32_t capacity) const noexcept {
    if (then.ring() == 0 || then.ring() != held_ring.load_own()) return false;
    return ((then.tail() - head) & ticket_mask) >= capacity;
  }
  /// Relaxed: where there are gates, senders that find no room read it.
  RONDO_HOT RONDO_HD void set_head(std::uint32_t ticket) noexcept {
    as_atomic(head).store(ticket & ticket_mask, memory_order::relaxed);
  }
};
static_assert(sizeof(owner_cell) == 320);

}  // namespace rondo
