// The module whose costs are predicted: the behaviours that bench_gpu measures on a GPU.
#include "runtime/device/cuda/cuda_module.hpp"
#include "tests/ptx/cost/actors.hpp"

RONDO_CUDA_MODULE(ptx_cost::cost_actors)
