// A window of mail: copies of the oldest messages of a mailbox, which the lanes of a GPU's team make side by side, so
// that one of them can handle the messages one after the other.
//
// One lane alone waits for memory several times for each message: for its sequence, its header, its payload, and for a
// fence before its slot goes back. A window waits for all of that once.
//
// The messages stay in their slots until they are handled: each slot goes back in its turn, so a mailbox is full
// exactly when it holds its capacity, and what is not handled after all needs nothing to be undone.
//
// Threads: the lanes of the team that owns the actor (W2).
// Ordering: the edge `commit` of each message, by one fence of the lane that has seen it and a barrier; the edge
// `reuse`, or `room`, of all of them: lane 0 gives them back behind the barrier after the copies.
#pragma once

#include "kernels/base/team.hpp"
#include "kernels/mail/mail_ring.hpp"

namespace rondo {

/// Whether teams handle mail by windows.
inline constexpr bool takes_windows = detail::fences_cost_trips;

/// In memory that the lanes of a team share.
struct mail_window {
  static constexpr std::uint32_t most = 32;  // one for each lane of a warp
  message_slot slots[most];                  // without sequences
};

/// The mail of which a window is to be made: from `ticket` on, `most` messages at most.
struct window_request {
  mail_ring_ref ring;
  std::uint32_t ticket, most;
};

/// What is in a window: messages of the default priority without a trace.
struct window_contents {
  std::uint32_t count;
  std::uint32_t special;  // bits of those that have flags or a deadline
  // Bits of those that are of another type than the one before, or of which one of both has a deadline.
  std::uint32_t changes;

  /// How many from `i` on go the same way, one after the other.
  RONDO_HD std::uint32_t run_length(std::uint32_t i) const noexcept {
    return length(i, changes | special | special << 1);
  }
  /// How many from `i` on may be of one batch.
  RONDO_HD std::uint32_t batch_length(std::uint32_t i) const noexcept { return length(i, changes); }

 private:
  /// Up to the next of `ends`.
  RONDO_HD std::uint32_t length(std::uint32_t i, std::uint32_t ends) const noexcept {
    auto const later = ends >> i >> 1;
    auto const run = later != 0 ? static_cast<std::uint32_t>(lowest_bit(later)) + 1 : count;
    return run < count - i ? run : count - i;
  }
};

/// What one lane sees of a window; then of all lanes.
class window_judge {
 public:
  /// Message `i`. `is_plain`: it may be in a window.
  RONDO_HD void look_at(std::uint32_t i, message_header const& h, message_header const& before,
                        bool is_plain) noexcept {
    bool const is_special = (h.flags | h.deadline) != 0;
    bool const has_changed = h.type != before.type || (h.deadline | before.deadline) != 0;
    others_ |= std::uint32_t{!is_plain} << i;
    special_ |= std::uint32_t{is_special} << i;
    changes_ |= std::uint32_t{has_changed} << i;
  }
  /// All `lanes`: of `count` messages, those before the first that may not be in a window.
  RONDO_HD window_contents judge(team const& lanes, std::uint32_t count) const noexcept {
    auto const others = lanes.any_bits(others_), special = lanes.any_bits(special_),
               changes = lanes.any_bits(changes_);
    return {others != 0 ? static_cast<std::uint32_t>(lowest_bit(others)) : count, special, changes};
  }

 private:
  std::uint32_t others_ = 0, special_ = 0, changes_ = 0;  // bits
};

/// All `lanes`, a warp: copies the messages that are committed one after the other, as far as a window may hold
/// them.
RONDO_CALL RONDO_HD inline window_contents fetch_mail(team lanes, window_request from,
                                                      mail_window& to) noexcept {
  auto const [ring, ticket, most] = from;
  lanes.sync();  // they come by different ways: from here on they load side by side
  std::uint32_t missing = 0;
  for (auto const i : lane_range{most, lanes.lane(), lanes.lanes()})
    if (!ring.committed(ticket + i, memory_order::relaxed)) missing |= 1u << i;
  // The edge `commit`, of what this lane has seen. Then any_bits is a barrier of all lanes.
  atomic_fence(memory_order::acquire);
  missing = lanes.any_bits(missing);
  auto const count = missing != 0 ? static_cast<std::uint32_t>(lowest_bit(missing)) : most;
#if defined(__CUDA_ARCH__)
  // Whole slots in pieces of 16 bytes, adjacent lanes adjacent ones. The loads of 16 messages are under way together;
  // those of 32 would take too many registers.
  constexpr std::uint32_t pieces = sizeof(message_slot) / sizeof(uint4), rows = 4;
  uint4 some[rows];
  for (auto first = lanes.lane(); first < count * pieces; first += rows * hardware::warp_lanes) {
    RONDO_UNROLL
    for (std::uint32_t row = 0; row < rows; ++row)
      if (auto const p = first + row * hardware::warp_lanes; p < count * pieces)
        some[row] = reinterpret_cast<uint4 const*>(&ring.slot(ticket + p / pieces))[p % pieces];
    RONDO_UNROLL
    for (std::uint32_t row = 0; row < rows; ++row)
      if (auto const p = first + row * hardware::warp_lanes; p < count * pieces)
        reinterpret_cast<uint4*>(to.slots)[p] = some[row];
  }
#else
  for (auto const i : lane_range{count, lanes.lane(), lanes.lanes()}) {
    message_slot const& slot = ring.slot(ticket + i);
    to.slots[i].header = slot.header;
    __builtin_memcpy(to.slots[i].payload, slot.payload, max_payload_bytes);
  }
#endif
  lanes.sync();
  // Each lane looks at a header, so that the one that handles the messages need not look at all of them.
  window_judge judge;
  for (auto const i : lane_range{count, lanes.lane(), lanes.lanes()}) {
    message_header const& h = to.slots[i].header;
    judge.look_at(i, h, to.slots[i == 0 ? 0 : i - 1].header, h.priority == default_priority && !h.traced());
  }
  return judge.judge(lanes, count);
}

}  // namespace rondo
