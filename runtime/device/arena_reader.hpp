// Reads counters out of an arena that runs meanwhile.
#pragma once

#include "runtime/device.hpp"

namespace rondo {

/// One consistent moment of the actor in `cell`: its totals, its state and what waits. Retries while its
/// owner publishes.
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
    actor_totals again;
    if (cell.word.load(memory_order::acquire) != bits || !cell.totals.try_read(again) ||
        again.accepted != s.totals.accepted || again.handled != s.totals.handled)
      continue;
    if (word.ring() != 0) s.totals.accepted += (word.tail() - counted) & ticket_mask;
    break;
  }
  s.behaviour = cell.behaviour;
  s.waiting =
      static_cast<std::uint32_t>(s.totals.accepted - s.totals.handled - s.totals.rejected - s.totals.dead);
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
