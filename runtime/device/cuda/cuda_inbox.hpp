// The inbox: memory for the submissions to a GPU. It is in pinned host memory, which the I/O team reads across the bus,
// or in GPU memory, which the host writes across the bus. A read waits for the bus; a write does not.
//
// The latter needs a system whose processors are cache-coherent with the GPU (such as Grace Hopper), or gdrdrv, which
// maps GPU memory for the host (https://github.com/NVIDIA/gdrcopy). gdrcopy's header warns that a running kernel may
// see such writes out of order, so it is used only on request.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <string>

namespace rondo {

/// Memory of one kind at two addresses.
struct cuda_inbox {
  std::byte* host = nullptr;    // null: use pinned memory
  std::byte* device = nullptr;  // the same bytes
  bool combines_writes = false;
  std::string where;  // for human readers
};

/// Zeroed device memory that the host can write, kept until the process ends. Precondition: no grid runs on the GPU,
/// because the allocation may wait for it. `choice` is config::inbox. Throws std::runtime_error if "mapped" is not
/// available.
cuda_inbox map_inbox(int ordinal, std::size_t bytes, std::string const& choice);

/// To be called when the GPU's context was reset, which unmaps everything.
void forget_inboxes(int ordinal);

}  // namespace rondo
