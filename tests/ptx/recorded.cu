// Kernels whose PTX is recorded in recorded.ptx, so that the machine is tested on nvcc's code without nvcc.
//
// To record it again, from the root: nvcc -std=c++20 -ccbin g++ -arch=sm_90 -lineinfo -ptx -I . tests/ptx/recorded.cu
// -o - | sed "s|$PWD/||" > tests/ptx/recorded.ptx
#include "kernels/base/atomic.hpp"

namespace {

using rondo::memory_order;

struct slot {
  rondo::atomic<std::uint32_t> ticket;
  std::uint32_t words[7];
};
static_assert(sizeof(slot) == 32);

__noinline__ __device__ std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  return x ^ x >> 33;
}

}  // namespace

/// Block 0 passes `rounds` items per lane to block 1, each through a slot of its own, which is used again and again.
/// `sums[0]` is what was sent, `sums[1]` what was received.
extern "C" __global__ void pass_items(slot* slots, std::uint32_t rounds, unsigned long long* sums) {
  auto const lane = threadIdx.x % 32;
  slot& s = slots[lane];
  std::uint64_t sum = 0;
  for (std::uint32_t r = 0; r < rounds; ++r) {
    if (blockIdx.x == 0) {
      while (s.ticket.load(memory_order::acquire) != 2 * r) __nanosleep(20);
      for (std::uint32_t i = 0; i < 7; ++i) {
        s.words[i] = static_cast<std::uint32_t>(mix((r * 7ull + i) * 32 + lane));
        sum += s.words[i];
      }
      s.ticket.store(2 * r + 1, memory_order::release);
    } else {
      while (s.ticket.load(memory_order::acquire) != 2 * r + 1) __nanosleep(20);
      for (auto const w : s.words) sum += w;
      s.ticket.store(2 * r + 2, memory_order::release);
    }
  }
  for (int other = 16; other > 0; other /= 2) sum += __shfl_down_sync(0xffffffff, sum, other);
  if (lane == 0) sums[blockIdx.x] = sum;
}

/// Lanes that have the same key reserve places in its list together, with one atomic; then the block counts them.
extern "C" __global__ void group_keys(std::uint32_t const* keys, rondo::atomic<std::uint32_t>* counts,
                                      std::uint32_t* places, std::uint32_t* total) {
  __shared__ std::uint32_t per_warp[32];
  auto const lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  auto const key = keys[threadIdx.x];
  auto const same = __match_any_sync(0xffffffff, key);
  auto const leader = __ffs(static_cast<int>(same)) - 1;
  std::uint32_t first = 0;
  if (static_cast<int>(lane) == leader)
    first = counts[key].fetch_add(static_cast<std::uint32_t>(__popc(same)), memory_order::relaxed);
  first = __shfl_sync(0xffffffff, first, leader);
  places[threadIdx.x] = first + static_cast<std::uint32_t>(__popc(same & ((1u << lane) - 1)));
  auto const odd = __ballot_sync(0xffffffff, (key & 1) != 0);
  if (lane == 0) per_warp[warp] = static_cast<std::uint32_t>(__popc(odd));
  __syncthreads();
  if (threadIdx.x != 0) return;
  *total = 0;
  for (std::uint32_t w = 0; w < blockDim.x / 32; ++w) *total += per_warp[w];
}
