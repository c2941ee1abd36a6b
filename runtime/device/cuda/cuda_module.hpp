// Compiles a module for CUDA. Include it in one .cu file that rondo_add_module names, and write there
//
//   RONDO_CUDA_MODULE(counters)
//
// Without a CUDA compiler the same file is plain C++, and this is nothing.
#pragma once

#include "kernels/grid/grid_keeper.hpp"

#if !defined(__CUDACC__)

#define RONDO_CUDA_MODULE(module) static_assert(module::size > 0);

#else

#include <cuda_runtime_api.h>

#include "runtime/device/cuda/cuda_program.hpp"

namespace rondo {

namespace gpu {

/// How the I/O team waits: not at all for some hundred looks across the bus, then longer and longer up to a microsecond.
struct io_idle {
  std::uint32_t looks = 0;
  __device__ void worked() { looks = 0; }
  template <class WasSubmitted, class IsAsked>
  __device__ void wait(WasSubmitted, IsAsked) {
    if (++looks > 256) __nanosleep(looks < 1256 ? looks - 256 : 1000);
  }
};

/// Block 0: warp 0 is the I/O team, warp 1 the keeper. In the others each warp is a team (lanes == 32), or the block is.
template <class Module>
__global__ void run_grid(__grid_constant__ grid<> const g, std::uint32_t lanes) {
  __shared__ team_shared shared[warp_teams_per_block];
  for (auto i = threadIdx.x; i < sizeof shared / 4; i += blockDim.x)
    reinterpret_cast<std::uint32_t*>(shared)[i] = 0;
  __syncthreads();  // shared memory begins as it was left
  auto const warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  host_port const host{const_cast<bus_ring_ref<host_record>*>(&g.queues.up), nullptr, g.buffers};
  if (blockIdx.x == 0) {
    if (warp == 0 && lane == 0) run_io<Module>(g, host, io_idle{});
    if (warp == 1) grid_keeper<>{g, team{0, lane, warp_size, shared[warp]}}.run([] {}, [] { return false; });
    return;
  }
  bool const block_is_team = lanes != warp_size;
  auto const index = block_is_team ? blockIdx.x - 1 : (blockIdx.x - 1) * (blockDim.x / warp_size) + warp;
  if (index >= g.teams()) return;
  run_worker<Module>(
      g, block_is_team ? team{index, threadIdx.x, lanes, shared[0]} : team{index, lane, lanes, shared[warp]},
      host);
}

/// Answers the host's questions for the time, so that it learns how the two clocks differ.
template <class Module>
__global__ void meet_host(cuda_meeting* meeting) {
  meeting->key = Module::key;
  for (std::uint32_t next = 1;; ++next) {
    std::uint32_t asked = 0;
    while ((asked = meeting->asked.load(memory_order::acquire)) < next) {
    }
    if (asked == ~0u) return;
    std::uint64_t timer;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
    meeting->timer_ns = timer;
    meeting->told.store(next, memory_order::release);
  }
}

/// Writes a __constant__ of the calling file, before a grid runs; false without a GPU.
template <class T>
bool set_constant(T const& symbol, T const& value) {
  return cudaMemcpyToSymbol(symbol, &value, sizeof value) == cudaSuccess;
}

template <class Module>
bool add_module() {
  cuda_programs().push_back(
      {Module::key, reinterpret_cast<void const*>(&run_grid<Module>),
       reinterpret_cast<void const*>(&meet_host<Module>), [](std::uint64_t offset_ns, void* stream) {
         return static_cast<int>(cudaMemcpyToSymbolAsync(detail::global_timer_offset_ns, &offset_ns,
                                                         sizeof offset_ns, 0, cudaMemcpyHostToDevice,
                                                         static_cast<cudaStream_t>(stream)));
       }});
  return true;
}

}  // namespace gpu
}  // namespace rondo

// The symbol is what rondo_add_module has the linker ask for, or nobody would miss this file in a library.
#define RONDO_CUDA_JOIN_(a, b) a##b
#define RONDO_CUDA_JOIN(a, b) RONDO_CUDA_JOIN_(a, b)
#define RONDO_CUDA_MODULE(module)                                                                           \
  extern "C" {                                                                                              \
  extern bool const RONDO_CUDA_JOIN(rondo_cuda_module_, RONDO_MODULE_TARGET);                               \
  bool const RONDO_CUDA_JOIN(rondo_cuda_module_, RONDO_MODULE_TARGET) = ::rondo::gpu::add_module<module>(); \
  }

#endif
