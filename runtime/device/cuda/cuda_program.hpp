// Which modules were compiled for CUDA: each one's kernels, found by the module's key. Registered when the program starts
// (cuda_module.hpp), looked up when a device is made. Knows nothing of CUDA, so every build has it.
//
// Threads: registered before main, by one; looked up from any afterwards.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/atomic.hpp"

namespace rondo {

struct cuda_program {
  std::uint64_t key;      // Module::key, as the host's compiler computes it
  void const* run_grid;   // __global__ void(grid<>, std::uint32_t lanes)
  void const* meet_host;  // __global__ void(cuda_meeting*), one thread
  /// What now_ns adds to the global timer, from then on in the stream's order; returns a cudaError_t.
  int (*set_clock)(std::uint64_t offset_ns, void* stream);
};

/// What the kernel `meet_host` and its host write to each other, in pinned memory.
struct cuda_meeting {
  atomic<std::uint32_t, scope::system> asked;  // by the host: the number of its question; ~0: no more
  alignas(64) atomic<std::uint32_t, scope::system> told;  // by the kernel: the number of its answer
  std::uint64_t timer_ns;                                 // its global timer then
  std::uint64_t key;                                      // Module::key, as the device's compiler computes it
};

inline constexpr std::uint32_t warp_size = 32;
inline constexpr std::uint32_t warp_teams_per_block =
    4;  // when a warp is a team; more lanes make a block one

inline std::vector<cuda_program>& cuda_programs() {
  static std::vector<cuda_program> all;
  return all;
}

inline constexpr char const* no_cuda_program =
    "this module was not compiled for CUDA: name a .cu file in its rondo_add_module, and write "
    "RONDO_CUDA_MODULE there";

/// Null: no_cuda_program says why.
inline cuda_program const* find_cuda_program(std::uint64_t key) noexcept {
  for (auto const& p : cuda_programs())
    if (p.key == key) return &p;
  return nullptr;
}

}  // namespace rondo
