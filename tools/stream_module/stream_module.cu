// The stages of `rondo stream`, compiled for every device of the build.
#include "tools/stream_module/stream_module.hpp"

#include "runtime/device/cuda/cuda_module.hpp"

RONDO_CUDA_MODULE(rondo::tools::stream_stages)
