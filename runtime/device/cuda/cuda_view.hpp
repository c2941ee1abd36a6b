// Access to GPU memory that another process exports (runtime/sharing), through CUDA's IPC of memory pools and events.
//
//   rondo::buffer_importer importer(path, {.open_device = rondo::cuda_opener(0)});
#pragma once

#include "runtime/sharing/device_view.hpp"

namespace rondo {

/// The opener for the GPU with this number; buffers on other GPUs fail with buffer_elsewhere. Empty without a GPU and
/// in a build without CUDA. Threads: any.
device_opener cuda_opener(int ordinal);

}  // namespace rondo
