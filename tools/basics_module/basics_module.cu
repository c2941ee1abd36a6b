// The built-in module, compiled for every device of the build.
#include "actors/basics/basics_module.hpp"

#include "runtime/device/cuda/cuda_module.hpp"

RONDO_CUDA_MODULE(rondo::basics::basics_module)
