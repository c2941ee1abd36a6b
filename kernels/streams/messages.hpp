// The messages between the stages of a graph, its clock, and its host.
#pragma once

#include <cstdint>

namespace rondo::streams {

/// What a stage has done so far.
struct stage_counts {
  std::uint64_t processed = 0;  // ticks
  std::uint64_t failed = 0;     // attempts to process one
  std::uint64_t skipped =
      0;  // ticks given up: after the last attempt, or by a source that was still busy with an earlier one
  std::uint64_t dropped = 0;      // frames that this stage made, and an input with `every` had no room for
  std::uint64_t replaced = 0;     // those that it made or had in hand, and a newer one replaced (`latest`)
  std::uint64_t copied = 0;       // frames that it copied in order to edit them
  std::uint64_t busy_ns = 0;      // spent in `process`
  std::uint64_t longest_ns = 0;   // the longest time for one tick
  std::uint64_t last_number = 0;  // of the last tick that it processed
  std::uint64_t late = 0;         // ticks that it finished after their deadline
  std::uint64_t lost = 0;         // frames lost outside the graph, on the way to or from another process
  std::uint32_t failure = 0;      // the last failure, an errc
  std::uint16_t ended = 0;        // 1: it will process nothing more
  std::uint16_t gave_up = 0;      // 1: because it could not go on
};
static_assert(sizeof(stage_counts) <= 96);

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
/// To a stage: the graph stops, so what the stage waits for outside the graph may never come.
struct graph_stops {};
/// Answered when the stage has ended.
struct await_end {};
/// Answered at once.
struct read_counts {};
/// Answered at once, after a look at the edges.
struct read_progress {};

}  // namespace rondo::streams
