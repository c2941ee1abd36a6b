// The counters of a stage of a graph: it says them in a message, and reports show them.
#pragma once

#include <cstdint>

namespace rondo {

/// What a stage has done so far.
struct stage_counts {
  std::uint64_t processed = 0;  // ticks
  std::uint64_t failed = 0;     // attempts to process one
  std::uint64_t skipped =
      0;  // ticks given up: after the last attempt, or by a source still busy with an earlier one
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

namespace streams {
using rondo::stage_counts;  // where its users look for it
}

}  // namespace rondo
