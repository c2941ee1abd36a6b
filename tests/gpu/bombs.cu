#include "tests/gpu/bombs.hpp"

#include "runtime/device/cuda/cuda_module.hpp"

RONDO_CUDA_MODULE(gpu_test::bombs)
