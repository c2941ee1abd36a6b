// Measures how long a stage takes for a tick on a device, or its kernels on the GPU beside it: it is run there, alone,
// with blank frames of the shapes that it has in its graph.
//
// Only a stage with outputs, which opens nothing on the host, is run, and a source only for its kernels: it or a sink
// would do something for others to see. What was measured is kept for the process, by type, options, shapes, and
// device. Threads: any; one measures at a time.
#pragma once

#include <optional>

#include "runtime/streams/plan/graph_plan.hpp"

namespace rondo::streams {

/// The median of some ticks. nullopt: there was no room for it, or it did not process the frames within a second.
/// Blocks for some ticks.
/// Precondition: it, or its kernels, are measurable, and the shapes of all outputs are known; `by_player`: there is a
/// player.
std::optional<std::uint64_t> measured_ns(runtime& rt, planned_stage const& stage, stage_spec const& spec,
                                         std::uint32_t device, bool by_player);

}  // namespace rondo::streams
