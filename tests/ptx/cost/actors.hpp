// The module whose costs are predicted: the behaviours that bench_gpu measures on a GPU.
#pragma once

#include "bench/gpu/actors.hpp"

namespace ptx_cost {

namespace behaviours = rondo::bench::gpu;

RONDO_MODULE(cost_actors, behaviours::echo, behaviours::player, behaviours::consumer,
             behaviours::batch_consumer, behaviours::producer, behaviours::trader)

}  // namespace ptx_cost
