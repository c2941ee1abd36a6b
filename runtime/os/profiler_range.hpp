// A range on the timeline of NVIDIA's profilers (NVTX): what a runtime does on the host's side of a GPU, such as copies
// of buffers. Exists only in a build with the CMake option RONDO_NVTX; otherwise it is empty.
//
// Threads: a range ends on the thread that began it.
#pragma once

#if defined(RONDO_NVTX)
#include <nvtx3/nvtx3.hpp>
#endif

namespace rondo {

#if defined(RONDO_NVTX)
struct profiler_domain {
  static constexpr char const* name = "rondo";
};
/// From construction to destruction. The text need not outlive the constructor.
using profiler_range = nvtx3::scoped_range_in<profiler_domain>;
#else
struct profiler_range {
  explicit profiler_range(char const*) noexcept {}
};
#endif

}  // namespace rondo
