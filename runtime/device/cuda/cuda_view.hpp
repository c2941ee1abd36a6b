// Opens the memory of a GPU that another process exports (runtime/sharing): CUDA's IPC of memory pools and events.
//
//   rondo::buffer_importer importer(path, 5s, rondo::cuda_opener(0));
#pragma once

#include "runtime/sharing/device_view.hpp"

namespace rondo {

/// For the GPU of this number; what lies on another one is elsewhere. Empty in a build without CUDA, and without a GPU. Threads: any.
device_opener cuda_opener(int ordinal);

}  // namespace rondo
