// The behaviours of `rondo run` for the device ptx.
#include "tools/workloads_module/workloads_module.hpp"

#include "runtime/device/cuda/cuda_module.hpp"

RONDO_CUDA_MODULE(rondo::tools::workloads_module)
