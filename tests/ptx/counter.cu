// The module of counter.hpp, compiled to PTX for the device ptx.
#include "runtime/device/cuda/cuda_module.hpp"
#include "tests/ptx/counter.hpp"

RONDO_CUDA_MODULE(ptx_counter::counters)
