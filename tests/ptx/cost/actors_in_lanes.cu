// The module of actors in lanes, 32 of them a warp.
#define RONDO_DEFAULT_WIDTH ::rondo::width::lane
#include "runtime/device/cuda/cuda_module.hpp"
#include "tests/ptx/cost/lane_actors.hpp"

RONDO_CUDA_MODULE(ptx_cost::lane_actors)
