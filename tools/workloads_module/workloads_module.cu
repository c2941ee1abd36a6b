// The behaviours of `rondo run`, compiled for every device of the build.
#include "tools/workloads_module/workloads_module.hpp"

#include "runtime/device/cuda/cuda_module.hpp"

RONDO_CUDA_MODULE(rondo::tools::workloads_module)
