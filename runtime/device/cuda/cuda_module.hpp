// Compilation of a module for CUDA. Include this header in one .cu file that is listed in rondo_add_module, and write
// there
//
//   RONDO_CUDA_MODULE(counters)
//
// Without a CUDA compiler, the file is plain C++ and the macro has no effect.
//
// The file may also use the runtime. Its coroutines belong in .cpp files, because nvcc 13.0 does not compile Asio's
// co_spawn, and loses the parentheses of `(co_await x).member`. Asio's use_future needs
// BOOST_ASIO_DISABLE_VARIABLE_TEMPLATES there, which the target rondo::runtime defines.
//
// A thread of the ring kernel has 168 registers: with fewer, it would keep some in memory on a message's way. Three
// blocks of four warps fit on a multiprocessor, of which one is launched unless the config asks for more teams. For
// handlers that need more, define RONDO_CUDA_REGISTERS before the include: at most 255, and fewer teams fit.
#pragma once

#include "kernels/grid/grid_keeper.hpp"

#if !defined(__CUDACC__)

/// Compiles the module for GPUs; without nvcc it only checks that the module exists.
#define RONDO_CUDA_MODULE(module) static_assert(module::size > 0);

#else

#include <cuda_runtime_api.h>

#include "runtime/device/cuda/cuda_program.hpp"

#if !defined(RONDO_CUDA_REGISTERS)
#define RONDO_CUDA_REGISTERS 168
#endif

namespace rondo {

namespace gpu {

/// The backoff of the I/O team: none for some hundred looks across the bus, then growing pauses of up to a microsecond.
struct io_idle {
  std::uint32_t looks = 0, turns = 0;
  __device__ bool looks_around() { return (turns++ & 7) == 0; }
  __device__ void worked() { looks = 0; }
  template <class WasSubmitted, class IsAsked>
  __device__ void wait(WasSubmitted, IsAsked) {
    if (++looks > 256) __nanosleep(looks < 1256 ? looks - 256 : 1000);
  }
};

/// In block 0, warp 0 is the I/O team and warp 1 the keeper. In the other blocks, each warp is a team if lanes == 32;
/// otherwise each block is.
template <class Module>
__global__ void __maxnreg__(RONDO_CUDA_REGISTERS)
    run_grid(__grid_constant__ grid<> const g, std::uint32_t lanes) {
  __shared__ team_shared shared[warp_teams_per_block];
  __shared__ alignas(io_window) std::byte window_bytes[warp_teams_per_block * sizeof(io_window)];
  for (auto i = threadIdx.x; i < sizeof shared / 4; i += blockDim.x)
    reinterpret_cast<std::uint32_t*>(shared)[i] = 0;
  __syncthreads();  // shared memory is not zeroed at the start
  auto const warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  auto* const windows = reinterpret_cast<io_window*>(window_bytes);  // of the I/O team, or one for each team
  host_port const host{const_cast<bus_ring_ref<device_event>*>(&g.queues.up), nullptr, g.buffers};
  if (blockIdx.x == 0) {
    if (warp == 0) run_io<Module>(g, host, team{0, lane, warp_size, shared[warp]}, *windows, io_idle{});
    if (warp == 1) grid_keeper<>{g, team{0, lane, warp_size, shared[warp]}}.run([] {}, [] { return false; });
    return;
  }
  bool const block_is_team = lanes != warp_size;
  auto const index = block_is_team ? blockIdx.x - 1 : (blockIdx.x - 1) * (blockDim.x / warp_size) + warp;
  if (index >= g.teams()) return;
  run_worker<Module>(
      g, block_is_team ? team{index, threadIdx.x, lanes, shared[0]} : team{index, lane, lanes, shared[warp]},
      host, windows[block_is_team ? 0 : warp]);
}

/// Called by code for both sides, as the ring kernel calls it, a member function without RONDO_HD would do nothing on
/// the GPU: nvcc warns of that only outside of installed headers. Called by code for the GPU alone, it is an error that
/// names the function.
template <class B, class M>
__device__ void a_handler_needs_RONDO_HD(B& state, context& ctx, std::byte const* payload) {
  auto const& m = *reinterpret_cast<M const*>(payload);
  if constexpr (detail::kind_of<B, M> == handler_kind::wide) {
    state.tiles(ctx, m);
    state.tile(ctx, m, 0u);
    state.finish(ctx, m);
  } else if constexpr (detail::kind_of<B, M> == handler_kind::batch) {
    state.on(ctx, *reinterpret_cast<batch<M> const*>(payload));
  } else if constexpr (portable_behaviour<B>) {
    portable_context<B, M> own(ctx);
    state.on(own, m);
  } else {
    state.on(ctx, m);
  }
}
template <class B>
__device__ void a_behaviour_needs_RONDO_HD(std::byte* at, context& ctx) {
  auto* const state = new (at) B{};
  if constexpr (detail::starts<B>) {
    detail::own_context<B, void> made(ctx);
    detail::context_of<B, void>& own = made;
    if constexpr (detail::starts_with_arguments<B>)
      state->on_start(own, typename B::arguments{});
    else
      state->on_start(own);
  }
}

template <class... Entries, class B>
__device__ void need_handlers(messages<Entries...>, B* state, context* ctx) {
  (a_handler_needs_RONDO_HD<B, typename detail::entry_traits<Entries>::request>(*state, *ctx, nullptr), ...);
}
template <class... Behaviours>
__device__ void need_gpu_code(module_of<Behaviours...>*, context* ctx) {
  (a_behaviour_needs_RONDO_HD<Behaviours>(nullptr, *ctx), ...);
  (need_handlers(typename Behaviours::messages{}, static_cast<Behaviours*>(nullptr), ctx), ...);
}

/// Answers the host's queries for the time, from which it computes the difference of the two clocks.
template <class Module>
__global__ void meet_host(cuda_meeting* meeting) {
  if (false) need_gpu_code(static_cast<Module*>(nullptr), nullptr);  // is compiled, and makes no code
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

/// Writes a __constant__ of the calling file. Must precede the first grid. False without a GPU.
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

// rondo_add_module makes the linker require this symbol; otherwise it would drop this file from a library.
#define RONDO_CUDA_JOIN_(a, b) a##b
#define RONDO_CUDA_JOIN(a, b) RONDO_CUDA_JOIN_(a, b)
#define RONDO_CUDA_MODULE(module)                                                                           \
  extern "C" {                                                                                              \
  extern bool const RONDO_CUDA_JOIN(rondo_cuda_module_, RONDO_MODULE_TARGET);                               \
  bool const RONDO_CUDA_JOIN(rondo_cuda_module_, RONDO_MODULE_TARGET) = ::rondo::gpu::add_module<module>(); \
  }

#endif
