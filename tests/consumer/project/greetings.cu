// Compiles the module for GPUs where there is a CUDA compiler; plain C++ elsewhere.
#include "greetings.hpp"

#include "runtime/device/cuda/cuda_module.hpp"

RONDO_CUDA_MODULE(greeters)
