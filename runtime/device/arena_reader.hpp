// Reads counters out of an arena that runs meanwhile.
#pragma once

#include "kernels/park.hpp"
#include "runtime/device.hpp"

namespace rondo {

/// Messages whose slots were not given back yet, up to the ticket `tail`: what the mailbox itself knows, from
/// neither its owner's counters nor the owner's place in it. Slots are given back in order (R4), so the oldest
/// one that was not is found by halving.
inline std::uint32_t count_waiting(mail_ring_ref const& ring, std::uint32_t tail) noexcept {
  std::uint32_t taken = ring.slot_count, waiting = 0;  // tail - taken was given back, tail - waiting was not
  if (!ring.taken((tail - taken) & ticket_mask)) return taken;
  while (taken - waiting > 1) {
    auto const middle = waiting + (taken - waiting) / 2;
    (ring.taken((tail - middle) & ticket_mask) ? taken : waiting) = middle;
  }
  return waiting;
}

/// One moment of the actor in `cell`: its totals, its state and what waits. The totals are of one moment; what
/// waits is read from the mailbox, and agrees with them when no team runs the actor. Retries while its owner
/// publishes.
inline actor_snapshot read_actor(arena_ref const& arena, std::uint32_t index) {
  actor_cell const& cell = arena.cell(index);
  actor_snapshot s;
  s.index = index;
  for (;;) {
    auto const bits = cell.word.load(memory_order::acquire);
    if (!cell.totals.try_read(s.totals)) {
      relax();
      continue;
    }
    actor_word const word{bits};
    auto const held = cell.held_ring.load(memory_order::relaxed);  // relaxed: checked against the word below
    std::uint32_t const counted = held == word.ring() ? cell.tail_seen.load(memory_order::relaxed)
                                                      : arena.ring(word.ring()).tail & ticket_mask;
    s.generation = cell.generation.load(memory_order::relaxed);
    s.state = static_cast<lifecycle>(cell.state.load(memory_order::relaxed));
    // A ring that is not this actor's any more gives a wrong number, which the second look at the word discards.
    s.waiting = word.ring() == 0 ? 0 : count_waiting(arena.ring_at(word.ring()), word.tail());
    actor_totals again;
    if (cell.word.load(memory_order::acquire) != bits || !cell.totals.try_read(again) ||
        again.accepted != s.totals.accepted || again.handled != s.totals.handled)
      continue;
    if (word.ring() != 0) s.totals.accepted += (word.tail() - counted) & ticket_mask;
    break;
  }
  s.behaviour = cell.behaviour;
  for (int b = 0; b < latency_histogram::buckets; ++b) s.latency_counts[b] = cell.latency.count(b);
  return s;
}

inline void read_actors_of(arena_ref const& arena, std::uint32_t count, std::vector<actor_snapshot>& out) {
  out.clear();
  for (std::uint32_t i = 0; i < count && i < arena.shape().actors; ++i)
    if (arena.cell(i).state.load(memory_order::relaxed) != static_cast<std::uint32_t>(lifecycle::free))
      out.push_back(read_actor(arena, i));
}

inline void read_teams_of(arena_ref const& arena, std::vector<team_snapshot>& out) {
  out.clear();
  for (std::uint32_t t = 0; t < arena.shape().teams; ++t) {
    team_status const& s = arena.team(t);  // relaxed: a report
    out.push_back({s.actor.load(memory_order::relaxed), s.type.load(memory_order::relaxed),
                   s.beats.load(memory_order::relaxed)});
  }
}

}  // namespace rondo
