// Snapshots of an arena's counters, read while its teams run.
//
// Threads: any thread that can access the arena. These functions never write to it.
#pragma once

#include "kernels/base/park.hpp"
#include "kernels/mail/arena.hpp"

namespace rondo {

/// One actor's counters.
struct actor_snapshot {
  std::uint32_t index = 0;            // of its id
  std::uint32_t generation = 0;       // likewise
  std::uint16_t behaviour = 0;        // index in the module
  lifecycle state = lifecycle::free;  // its state
  bool of_one_moment =
      true;             // false: its team published too often, so these numbers may be of several moments
  actor_totals totals;  // its counters
  std::uint32_t waiting = 0;  // messages in its mailbox, counted in the mailbox, not from the totals
  std::uint32_t latency_counts[latency_histogram::buckets] =
      {};  // of its sampled messages; see latency_histogram
};

/// What a team is doing.
struct team_snapshot {
  std::uint32_t actor_plus_one = 0;  // index + 1 of the actor that it runs; 0: none
  std::uint32_t generation = 0;      // of that actor
  std::uint32_t behaviour = 0;       // of that actor: index in the module
  std::uint32_t type = 0;            // of the message being handled
  std::uint64_t beats = 0;           // messages begun
  bool pinned = false;               // it belongs to a pinned actor
  std::uint32_t lane_plus_one = 0;   // of the lane that runs it, if each has an actor; 0: the team does
};

// -- for the runtime

/// Counts the messages before ticket `tail` whose slots have not been given back. It reads only the mailbox, not the
/// owner's counters or position. Slots are given back in order (R4), so a binary search finds the oldest
/// one that was not. Senders may have gone on from `tail` in the meantime.
RONDO_HD inline std::uint32_t count_waiting(mail_ring_ref const& ring, std::uint32_t tail) noexcept {
  // Invariant: slot tail - taken has been given back, slot tail - waiting has not.
  std::uint32_t taken = ring.slot_count, waiting = 0;
  if (!ring.is_past((tail - taken) & ticket_mask)) return taken;
  while (taken - waiting > 1) {
    auto const middle = waiting + (taken - waiting) / 2;
    (ring.is_past((tail - middle) & ticket_mask) ? taken : waiting) = middle;
  }
  return waiting;
}

/// Likewise, for an actor with this word. Wrong if the actor gives its ring back during the call. Where there are
/// gates, owners do not mark slots, and this is as far as the owner has come.
RONDO_HD inline std::uint32_t count_waiting(arena_ref const& arena, actor_cell const& cell,
                                            actor_word word) noexcept {
  if (arena.has_gates()) return arena.waiting(cell, word);
  return word.ring() == 0 ? 0 : count_waiting(arena.ring_at(word.ring()), word.tail());
}

inline constexpr std::uint32_t unknown_count = ~0u;

/// A hint: how many messages wait in the mailbox of `of`, with the one that it handles; wrong if it gives its ring back
/// during the call. 0 if it is gone; `unknown_count` if it is not in this arena.
RONDO_HD inline std::uint32_t estimate_waiting(arena_ref const& arena, actor_id of) noexcept {
  if (!arena.has_cell(of.index)) return unknown_count;
  actor_cell const& cell = arena.cell(of.index);
  actor_word const word{cell.word.load(memory_order::acquire)};  // acquire: the ring that it names
  // Relaxed: a newer generation differs.
  if (!word.has(actor_word::open) || cell.generation.load(memory_order::relaxed) != of.generation) return 0;
  return count_waiting(arena, cell, word);
}

namespace detail {

/// Reads what changes together, and the `word` before it. False if the owner published meanwhile.
RONDO_HD inline bool try_read_totals(arena_ref const& arena, actor_cell const& cell, actor_snapshot& s,
                                     actor_word& word) {
  auto const& own = arena.owner(cell);
  auto const bits = cell.word.load(memory_order::acquire);
  word = actor_word{bits};
  std::uint32_t counted = 0;  // tickets up to here are in totals.accepted
  auto const read_counted = [&] {
    // If nothing of this ring has been counted, the count begins where the ring was attached.
    counted = own.totals.counted_ring.load(memory_order::relaxed) == word.ring()
                  ? own.tail_seen.load(memory_order::relaxed)
                  : arena.ring(word.ring()).saved_tail();
  };
  if (!own.totals.try_read(s.totals, read_counted)) return false;
  s.generation = cell.generation.load(memory_order::relaxed);
  s.state = static_cast<lifecycle>(cell.state.load(memory_order::relaxed));
  // A ring that this actor no longer holds gives a wrong number; the second load of the word discards it.
  s.waiting = count_waiting(arena, cell, word);
  actor_totals again;
  // Relaxed: the loads before it acquire.
  if (cell.word.load(memory_order::relaxed) != bits || !own.totals.try_read(again) ||
      again.accepted != s.totals.accepted || again.handled != s.totals.handled)
    return false;
  if (word.ring() != 0) s.totals.accepted += (word.tail() - counted) & ticket_mask;
  return true;
}

}  // namespace detail

/// The actor in cell `index`: its totals, its state, and the number of waiting messages, of one moment if one of
/// `tries` reads finds the owner not publishing. The waiting messages are counted in the mailbox, and agree with the
/// totals when no team runs the actor.
RONDO_CALL RONDO_HD inline actor_snapshot read_actor(arena_ref const& arena, std::uint32_t index,
                                                     std::uint32_t tries = ~0u) {
  actor_cell const& cell = arena.cell(index);
  owner_cell const& own = arena.owner(cell);
  actor_snapshot s;
  s.index = index;
  actor_word word{0};
  while (!detail::try_read_totals(arena, cell, s, word)) {
    if (--tries == 0) {
      s.of_one_moment = false;
      s.totals = own.totals.some();
      s.generation = cell.generation.load(memory_order::relaxed);
      s.state = static_cast<lifecycle>(cell.state.load(memory_order::relaxed));
      s.waiting = count_waiting(arena, cell, word);  // the mailbox can be counted while the owner publishes
      break;
    }
    relax();
  }
  s.behaviour = cell.some_behaviour();
  for (int b = 0; b < latency_histogram::buckets; ++b) s.latency_counts[b] = own.latency.count(b);
  return s;
}

/// Whether cell `index` holds, or has held, an actor.
RONDO_HD inline bool is_used(arena_ref const& arena, std::uint32_t index) noexcept {
  return arena.has_cell(index) && arena.cell(index).state.load(memory_order::relaxed) !=
                                      static_cast<std::uint32_t>(lifecycle::free);  // relaxed: a report
}

/// All loads are relaxed: a report whose parts may be from different moments.
RONDO_HD inline team_snapshot read_team(arena_ref const& arena, std::uint32_t index) noexcept {
  team_status const& team = arena.team(index);
  team_snapshot s;
  run_status const* status = &team;
  if (team.side_by_side.load(memory_order::relaxed) !=
      0) {  // the first lane whose actor has not ended its turn
    std::uint32_t lane = 0;
    while (lane + 1 < max_lanes && arena.lane(index, lane).actor.load(memory_order::relaxed) == 0) ++lane;
    status = &arena.lane(index, lane);
    s.lane_plus_one = lane + 1;
  }
  s.actor_plus_one = status->actor.load(memory_order::relaxed);
  s.type = status->type.load(memory_order::relaxed);
  s.beats = status->beats.load(memory_order::relaxed);
  s.pinned = team.pinned_actor.load(memory_order::relaxed) != 0;
  if (s.actor_plus_one == 0) return s;
  actor_cell const& cell = arena.cell(s.actor_plus_one - 1);
  s.generation = cell.generation.load(memory_order::relaxed);
  s.behaviour = cell.some_behaviour();
  return s;
}

}  // namespace rondo
