// Where the submissions of a GPU's host lie: in pinned host memory, which the I/O team reads across the bus, or in the GPU's
// own memory, which the host writes across it; a read waits for the bus and a write does not.
//
// The latter takes a system whose processors share their caches with the GPU (Grace Hopper and its like), or gdrdrv, which
// maps GPU memory for the host (https://github.com/NVIDIA/gdrcopy). gdrcopy's header warns that a kernel which runs
// already may see such writes out of order; so it is used only if it was asked for.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <string>

namespace rondo {

/// Memory of one kind at two addresses.
struct cuda_inbox {
  std::byte* host = nullptr;    // null: there is none, take pinned memory
  std::byte* device = nullptr;  // the same bytes
  bool combines_writes = false;
  std::string where;  // for people
};

/// Zeroed device memory that the host can write, kept to the end of the process. To be called while no grid runs on the
/// GPU: claiming it may wait for one. `choice` is config::inbox. Throws std::runtime_error when "mapped" is not to be had.
cuda_inbox map_inbox(int ordinal, std::size_t bytes, std::string const& choice);

/// The GPU's context has gone, and all that was mapped.
void forget_inboxes(int ordinal);

}  // namespace rondo
