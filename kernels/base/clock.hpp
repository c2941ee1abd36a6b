// The device's clock: monotonic nanoseconds, comparable among all teams of a device and its host.
//
// On x86 with an invariant time-stamp counter, it is that counter scaled to CLOCK_MONOTONIC (about 10 ns per call
// instead of 25); on other CPUs, CLOCK_MONOTONIC itself; on a GPU, the global timer. A model checker may replace now_ns
// by defining RONDO_CLOCK_HEADER to a header of its own.
#pragma once

#include "kernels/base/portable.hpp"

#if defined(RONDO_CLOCK_HEADER)
#include RONDO_CLOCK_HEADER
#endif

#if !defined(__CUDA_ARCH__)
#include <time.h>
#endif

namespace rondo {

namespace detail {

#if !defined(__CUDA_ARCH__)
__extension__ using uint128 = unsigned __int128;

inline std::uint64_t monotonic_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}
#endif

#if defined(__CUDACC__)
/// Added to a GPU's global timer, it gives the host's clock. Each .cu file has its own, set before its first grid
/// starts (runtime/device/cuda/cuda_module.hpp).
[[maybe_unused]] static __constant__ std::uint64_t global_timer_offset_ns;
#endif

/// Converts counter ticks to nanoseconds: ns = base_ns + (ticks - base_ticks) * scale / 2^32. scale 0: no
/// counter.
struct counter_scale {
  std::uint64_t base_ticks = 0, base_ns = 0, scale = 0;
};
/// Measured once by calibrate_clock (runtime/os/clock.cpp) before the first ring kernel starts.
inline counter_scale counter;

}  // namespace detail

#if defined(__CUDA_ARCH__)
/// Clock cycles of the multiprocessor: cheaper than now_ns, for short spans.
__device__ inline std::uint32_t now_cycles() noexcept {
  std::uint32_t t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t));
  return t;
}
#endif

#if !defined(RONDO_CLOCK_HEADER)
/// Nanoseconds since an unspecified start.
RONDO_HD inline std::uint64_t now_ns() noexcept {
#if defined(__CUDA_ARCH__)
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t + detail::global_timer_offset_ns;
#else
#if defined(__x86_64__)
  if (auto const& c = detail::counter; c.scale != 0) {
    auto const ticks = __builtin_ia32_rdtsc() - c.base_ticks;
    return c.base_ns + static_cast<std::uint64_t>((static_cast<detail::uint128>(ticks) * c.scale) >> 32);
  }
#endif
  return detail::monotonic_ns();
#endif
}
#endif

}  // namespace rondo
