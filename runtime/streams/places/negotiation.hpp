// Negotiation: decides for each stage of a graph in which place it works, so that a frame costs the least time in all:
// the work of the stages, and the copies between places.
//
// A stage lists the places that it can work in, by preference. An output that stages in other places read is copied
// once to each of these places, however many read it there. Costs are whole nanoseconds for one frame, so sums are
// exact, and the result depends on nothing else.
//
// Two places: an exact minimum cut (Boost.Graph's Boykov-Kolmogorov). More: from each place in turn where all stages
// can go, pairs of places are improved by exact cuts until none helps, and the best result is taken (alpha-beta swaps;
// Boykov, Veksler, Zabih, PAMI 2001). Among results of equal cost, the first stage gets the place that it prefers, then
// the second one, and so on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rondo::streams {

/// A number of places, counted from 0: which one it is, only the caller knows.
using place_number = std::uint32_t;

/// A place that a stage can work in.
struct stage_place {
  place_number where = 0;  // which one
  std::uint64_t ns = 0;    // how long the stage takes there for one frame
};

/// What one of the stages can do.
struct negotiating_stage {
  std::vector<stage_place> places;  // at least one, each once, the preferred one first
};

/// An output. Stages are numbered as in the call of `negotiate`.
struct negotiating_output {
  std::uint32_t from = 0;         // the stage that has it
  std::vector<std::uint32_t> to;  // the stages that read it
  std::vector<std::uint64_t> ns;  // ns[a * places + b] is the time of a copy from place a to place b
};

/// A choice and its costs.
struct negotiated {
  std::vector<place_number> places;  // of the stages
  std::uint64_t ns = 0;              // for one frame
  std::uint32_t copies = 0;          // likewise
};

/// Precondition: `places` is above all numbers of places, and at least 1; the sums of the costs are below 2^62.
negotiated negotiate(std::span<negotiating_stage const> stages, std::span<negotiating_output const> outputs,
                     std::uint32_t places);

/// The cost of a choice, which may be one that no negotiation would make: `places` of the stages.
negotiated cost_of(std::span<negotiating_stage const> stages, std::span<negotiating_output const> outputs,
                   std::uint32_t places, std::vector<place_number> chosen);

}  // namespace rondo::streams
