// Team operations that a GPU does in hardware, for a team that is a warp or a block of several warps.
//
// All lanes call each function together. It returns true if the hardware did the work: always on a GPU, never on a
// host, where the caller uses memory that the lanes share (team.hpp). Within a warp, reductions and scans are CUB's;
// across the warps of a block they go through `values` in shared memory, one per warp.
// Ordering: each of them is a barrier of all lanes: what any lane wrote before it is visible to all lanes after it.
//
// take_number is different: it is for lanes that do not know of each other, and orders nothing.
#pragma once

#include "kernels/base/atomic.hpp"
#include "kernels/base/portable.hpp"

#if defined(__CUDACC__)
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#endif

namespace rondo::hardware {

#if defined(__CUDA_ARCH__)

inline constexpr std::uint32_t warp_lanes = 32, whole_warp = 0xffff'ffffu;

__device__ inline bool sync(std::uint32_t lanes) noexcept {
  if (lanes > warp_lanes) __barrier_sync(0);  // lanes may come from different branches
  __syncwarp();
  return true;
}

/// The value of lane `from` of this warp. T has at most 8 bytes.
template <class T>
__device__ T shuffle(T value, std::uint32_t from) noexcept {
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = __shfl_sync(whole_warp, bits, static_cast<int>(from));
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
__device__ bool broadcast(T& value, std::uint32_t from, std::uint32_t lane, std::uint32_t lanes,
                          std::uint64_t* values) noexcept {
  if (lanes <= warp_lanes) {
    __syncwarp();
    value = shuffle(value, from);
    return true;
  }
  if (lane == from) __builtin_memcpy(&values[0], &value, sizeof value);
  sync(lanes);
  __builtin_memcpy(&value, &values[0], sizeof value);
  return sync(lanes);
}

/// The bits that any lane has set. Only within a warp: false for a larger team.
__device__ inline bool any_bits(std::uint32_t& bits, std::uint32_t lanes) noexcept {
#if __CUDA_ARCH__ >= 800
  if (lanes > warp_lanes) return false;
  __syncwarp();
  bits = __reduce_or_sync(whole_warp, bits);
  return true;
#else
  return false;
#endif
}

/// op over the lanes up to this one, in lane order.
template <class T, class Op>
__device__ bool scan(T& value, Op op, std::uint32_t lane, std::uint32_t lanes,
                     std::uint64_t* values) noexcept {
  using warp_scan = cub::WarpScan<T>;
  typename warp_scan::TempStorage none;  // a whole warp needs no memory
  __syncwarp();
  warp_scan(none).InclusiveScan(value, value, op);
  if (lanes <= warp_lanes) return true;
  auto const warp = lane / warp_lanes;
  if (lane % warp_lanes == warp_lanes - 1) __builtin_memcpy(&values[warp], &value, sizeof value);
  sync(lanes);
  T before{};
  for (std::uint32_t w = 0; w < warp; ++w) {
    T of_warp;
    __builtin_memcpy(&of_warp, &values[w], sizeof of_warp);
    before = w == 0 ? of_warp : op(before, of_warp);
  }
  if (warp != 0) value = op(before, value);
  return sync(lanes);
}

/// op over all lanes, in lane order, on all lanes.
template <class T, class Op>
__device__ bool reduce(T& value, Op op, std::uint32_t lane, std::uint32_t lanes,
                       std::uint64_t* values) noexcept {
  using warp_reduce = cub::WarpReduce<T>;
  typename warp_reduce::TempStorage none;
  __syncwarp();
  value = warp_reduce(none).Reduce(value, op);  // on the warp's first lane
  if (lanes <= warp_lanes) return value = shuffle(value, 0), true;
  if (lane % warp_lanes == 0) __builtin_memcpy(&values[lane / warp_lanes], &value, sizeof value);
  sync(lanes);
  __builtin_memcpy(&value, &values[0], sizeof value);
  for (std::uint32_t w = 1; w < lanes / warp_lanes; ++w) {
    T of_warp;
    __builtin_memcpy(&of_warp, &values[w], sizeof of_warp);
    value = op(value, of_warp);
  }
  return sync(lanes);
}

/// Adds 1, and returns what was there before. Lanes of a warp that come here at the same time, with the same counter,
/// share one atomic operation. Relaxed: a claim alone.
__device__ inline std::uint32_t take_number(atomic<std::uint32_t>& counter) noexcept {
  auto const with = __match_any_sync(__activemask(), reinterpret_cast<unsigned long long>(&counter));
  unsigned before = 0;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
  before &= with;
  std::uint32_t first = 0;
  if (before == 0) first = counter.fetch_add(static_cast<std::uint32_t>(__popc(with)), memory_order::relaxed);
  return __shfl_sync(with, first, __ffs(static_cast<int>(with)) - 1) +
         static_cast<std::uint32_t>(__popc(before));
}

#else

inline constexpr std::uint32_t warp_lanes = 1;  // each lane is a thread

RONDO_HD inline bool sync(std::uint32_t) noexcept { return false; }
template <class T>
RONDO_HD bool broadcast(T&, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t*) noexcept {
  return false;
}
RONDO_HD inline bool any_bits(std::uint32_t&, std::uint32_t) noexcept { return false; }
template <class T, class Op>
RONDO_HD bool scan(T&, Op, std::uint32_t, std::uint32_t, std::uint64_t*) noexcept {
  return false;
}
template <class T, class Op>
RONDO_HD bool reduce(T&, Op, std::uint32_t, std::uint32_t, std::uint64_t*) noexcept {
  return false;
}
/// Adds 1, and returns what was there before. Relaxed, on both: a claim alone.
RONDO_HD inline std::uint32_t take_number(atomic<std::uint32_t>& counter) noexcept {
  return counter.fetch_add(1, memory_order::relaxed);
}

#endif

}  // namespace rondo::hardware
