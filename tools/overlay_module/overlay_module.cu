// The overlay's actors, compiled for every device of the build.
#define RONDO_CUDA_REGISTERS 192  // with fewer, following a frame's regions would spill
#include "actors/overlay/overlay_module.hpp"

#include "runtime/device/cuda/cuda_module.hpp"

RONDO_CUDA_MODULE(rondo::overlay::overlay_module)
