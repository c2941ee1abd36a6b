// Measures what copies between the host and a device cost, for negotiation.
#pragma once

#include "runtime/memory/buffer_pool.hpp"
#include "runtime/streams/plan/graph_plan.hpp"

namespace rondo::streams {

/// Sets `up` and `down` of a device with its own memory, of which `pool` is: the best of some copies of two sizes.
/// Takes some milliseconds. If there is no memory for that, they stay as they are. Threads: any.
void measure_copies(buffer_pool& pool, planned_device& device);

}  // namespace rondo::streams
