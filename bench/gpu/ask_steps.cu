// The module of ask_steps.hpp for the device `cuda`.
#define RONDO_WAY_POINTS
#include "bench/gpu/ask_steps.hpp"
#include "runtime/device/cuda/cuda_module.hpp"

RONDO_CUDA_MODULE(rondo::bench::gpu::ask_steps)
