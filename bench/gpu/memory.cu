// What bare CUDA does instead of a buffer, a copy and a captured actor's graph; and Rondo's graphs.
#include <vector>

#include "bench/gpu/cases.hpp"
#include "bench/gpu/gpu.hpp"
#include "bench/gpu/memory.hpp"
#include "bench/harness/sampling.hpp"
#include "runtime/device/cuda/cuda_graphs.hpp"

namespace rondo::bench::gpu {
namespace {

measurement malloc_and_free(sample_budget const& budget) {
  check(cudaSetDevice(0));
  pin_to(budget.cpus[0]);
  return repeated(budget, "acquire_release_ns", [](std::uint64_t) {
    void* p = nullptr;
    check(cudaMalloc(&p, acquired_bytes));
    check(cudaFree(p));
  });
}

/// Keeps the stream's pool warm, as a program would.
measurement malloc_async_and_free(sample_budget const& budget) {
  check(cudaSetDevice(0));
  pin_to(budget.cpus[0]);
  cudaMemPool_t pool{};
  auto all = ~std::uint64_t{0};
  check(cudaDeviceGetDefaultMemPool(&pool, 0));
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
  stream const in;
  auto found = repeated(budget, "acquire_release_ns", [&](std::uint64_t) {
    void* p = nullptr;
    check(cudaMallocAsync(&p, acquired_bytes, in));
    check(cudaFreeAsync(p, in));
  });
  in.wait();
  return found;
}

measurement bare_copy(sample_budget const& budget) {
  check(cudaSetDevice(0));
  pin_to(budget.cpus[0]);
  pinned<std::byte> const here(copied_bytes);
  stream const in;
  void* there = nullptr;
  check(cudaMallocAsync(&there, copied_bytes, in));
  in.wait();
  auto found = repeated(budget, "copy_ns", [&](std::uint64_t) {
    check(cudaMemcpyAsync(there, &*here, copied_bytes, cudaMemcpyHostToDevice, in));
    in.wait();
  });
  check(cudaFreeAsync(there, in));
  in.wait();
  return found;
}

/// One step of the work, which is launched singly and replayed.
struct add_step {
  std::uint32_t* to;
  std::uint32_t n;
  RONDO_HD void operator()(std::uint32_t i) const { to[i] += n; }
};
constexpr std::uint32_t steps = 20, elements = 1024;

class step_memory {
 public:
  step_memory() {
    check(cudaSetDevice(0));
    check(cudaMallocAsync(reinterpret_cast<void**>(&at_), elements * sizeof *at_, in_));
    check(cudaMemsetAsync(at_, 0, elements * sizeof *at_, in_));
    in_.wait();
  }
  ~step_memory() { cudaFreeAsync(at_, in_); }
  std::uint32_t* at() const noexcept { return at_; }
  /// Checks that `rounds` rounds of all steps have run.
  void expect(std::uint64_t rounds) const {
    std::uint32_t first = 0;
    check(cudaMemcpyAsync(&first, at_, sizeof first, cudaMemcpyDeviceToHost, in_));
    in_.wait();
    check_equal("steps that ran", static_cast<std::uint32_t>(rounds * steps * (steps - 1) / 2), first);
  }

 private:
  stream in_;
  std::uint32_t* at_ = nullptr;
};

measurement single_launches(sample_budget const& budget) {
  pin_to(budget.cpus[0]);
  step_memory const memory;
  stream const in;
  std::uint64_t rounds = 0;
  auto found = repeated(budget, "replay_ns", [&](std::uint64_t) {
    for (std::uint32_t n = 0; n < steps; ++n)
      launch_for_each(static_cast<cudaStream_t>(in), elements, add_step{memory.at(), n});
    in.wait();
    ++rounds;
  });
  memory.expect(rounds);
  return found;
}

measurement replayed(sample_budget const& budget) {
  pin_to(budget.cpus[0]);
  step_memory const memory;
  cuda_graphs engine(0, [](cudaError_t e, char const*) { return e == cudaSuccess; });
  auto const graph = engine.make_graph();
  graph->capture([&](rondo::stream& s) {
    for (std::uint32_t n = 0; n < steps; ++n) s.for_each(elements, add_step{memory.at(), n});
  });
  std::uint64_t rounds = 0;
  auto found = repeated(budget, "replay_ns", [&](std::uint64_t) {
    if (!graph->replay()) throw std::runtime_error("the graph was not replayed");
    ++rounds;
  });
  memory.expect(rounds);
  return found;
}

}  // namespace

case_list bare_memory_cases() {
  return {{"gpu_acquire", "cudaMalloc", {}, malloc_and_free, true},
          {"gpu_acquire", "cudaMallocAsync", {}, malloc_async_and_free, true},
          {"gpu_copy_down", "cudaMemcpyAsync", {}, bare_copy, true},
          {"gpu_graph", "single launches", {}, single_launches, true},
          {"gpu_graph", "rondo graph", {}, replayed}};
}

}  // namespace rondo::bench::gpu
