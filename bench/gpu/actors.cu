// The module of bench_gpu, compiled for the device `cuda`.
#include "bench/gpu/actors.hpp"
#include "runtime/device/cuda/cuda_module.hpp"

RONDO_CUDA_MODULE(rondo::bench::gpu::bench_actors)
