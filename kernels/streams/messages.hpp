// The messages between the stages of a graph, its clock, and its host.
#pragma once

#include <cstdint>

#include "kernels/base/stage_counts.hpp"

namespace rondo::streams {

/// How far a stage is, for checkpoints.
struct stage_progress {
  std::uint64_t next_number = 0;  // of a source: the next tick that it makes
  std::uint64_t own_ticks = 0;    // of a source with ticks of its own: how many there were
  std::uint64_t processed = 0;    // ticks, in this run
  std::uint32_t is_busy = 0;      // 1: a tick is due, or its frames are in hand
  std::uint32_t is_ending = 0;    // 1: no more ticks come, or it has ended
};

// -- for the runtime

/// To a stage: look at the edges.
struct news {};
/// To a source: a tick is due.
struct tick_due {
  std::uint64_t number, time_ns;
};
/// To the clock: a sink has done with the frames of a tick.
struct tick_done {
  std::uint64_t number;
  std::uint32_t sink;  // its number in the graph
};

/// To the clock: a sink takes nothing more. When all have said so, the graph ends.
struct sink_ended {
  std::uint32_t sink;
};
/// To the clock, from a stage: the graph is to end.
struct end_graph {};

/// To a source: it makes nothing more, after the ticks that are due.
struct stop_source {};
/// From a wide stage to itself: the present tick's next phase.
struct next_phase {
  std::uint64_t number;  // of the tick
  std::uint32_t attempt, phase;
};
/// To a stage: the graph stops, so what the stage waits for outside the graph may never come.
struct graph_stops {};
/// Answered when the stage has ended.
struct await_end {};
/// Answered at once.
struct read_counts {};
/// Answered at once, after a look at the edges.
struct read_progress {};

}  // namespace rondo::streams
