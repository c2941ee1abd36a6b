#include "tests/conformance/behaviours_next.hpp"

#include "runtime/device/cuda/cuda_module.hpp"

RONDO_CUDA_MODULE(conformance::testbed_next)
