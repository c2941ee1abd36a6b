// The registry of modules compiled for CUDA: each module's kernels, by its key. Modules register at program start
// (cuda_module.hpp) and are looked up when a device is created. Does not depend on CUDA, so every build has it.
//
// Threads: one thread registers before main; afterwards, lookups from any.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/atomic.hpp"

namespace rondo {

struct cuda_program {
  std::uint64_t key;      // Module::key, computed by the host compiler
  void const* run_grid;   // __global__ void(grid<>, std::uint32_t lanes)
  void const* meet_host;  // __global__ void(cuda_meeting*), one thread
  /// Sets what now_ns adds to the global timer, in stream order; returns a cudaError_t.
  int (*set_clock)(std::uint64_t offset_ns, void* stream);
};

/// The dialogue between the kernel `meet_host` and its host, in pinned memory.
struct cuda_meeting {
  atomic<std::uint32_t, scope::system> asked;             // by the host: the number of its query; ~0: end
  alignas(64) atomic<std::uint32_t, scope::system> told;  // by the kernel: the number of the answered query
  std::uint64_t timer_ns;                                 // the global timer at the answer
  std::uint64_t key;                                      // Module::key, computed by the device compiler
};

inline constexpr std::uint32_t warp_size = 32;
inline constexpr std::uint32_t warp_teams_per_block = 4;  // if a team is a warp; larger teams are blocks

inline std::vector<cuda_program>& cuda_programs() {
  static std::vector<cuda_program> all;
  return all;
}

inline constexpr char const* no_cuda_program =
    "this module was not compiled for CUDA: list a .cu file in its rondo_add_module, and write "
    "RONDO_CUDA_MODULE there";

/// The module's program; null if it was not compiled for CUDA: report no_cuda_program.
inline cuda_program const* find_cuda_program(std::uint64_t key) noexcept {
  for (auto const& p : cuda_programs())
    if (p.key == key) return &p;
  return nullptr;
}

}  // namespace rondo
