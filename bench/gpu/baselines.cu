// What bare CUDA does in place of a message, a buffer, a copy and a captured actor; and Rondo's graphs, which are
// compared with single launches.
#include "bench/gpu/cases.hpp"
#include "bench/gpu/gpu.hpp"
#include "bench/harness/sampling.hpp"
#include "runtime/device/cuda/cuda_graphs.hpp"

namespace rondo::bench::gpu {
namespace {

// -- a round trip

__global__ void do_nothing() {}

/// The smallest request: one number in, one number out.
__global__ void answer_once(flags* at) {
  at->answered.store(at->asked.load(memory_order::relaxed) + 1, memory_order::relaxed);  // relaxed: flags
}

/// Computes nothing, so there is nothing to check: the shortest possible launch and wait.
measurement launch_nothing(sample_budget const& budget) {
  stream const in;
  return durations(budget, "round_trip_ns", [&](std::uint64_t) {
    do_nothing<<<1, 1, 0, in>>>();
    in.wait();
  });
}

/// `answer(in, flags)` makes the GPU run answer_once.
template <class Answer>
measurement answers(sample_budget const& budget, Answer&& answer) {
  stream const in;
  pinned<flags> const shared;
  answer(in, shared.on_device());
  in.wait();
  return round_trips(budget, [&](std::uint64_t number) -> std::uint64_t {
    shared->asked.store(static_cast<std::uint32_t>(number),
                        memory_order::relaxed);  // relaxed, both: the stream orders them
    answer(in, shared.on_device());
    in.wait();
    return shared->answered.load(memory_order::relaxed);
  });
}

measurement launch_and_wait(sample_budget const& budget) {
  return answers(budget, [](stream const& in, flags* at) { answer_once<<<1, 1, 0, in>>>(at); });
}

measurement graph_and_wait(sample_budget const& budget) {
  cudaGraphExec_t ready{};
  auto m = answers(budget, [&](stream const& in, flags* at) {
    if (ready == nullptr) {
      cudaGraph_t graph{};
      check(cudaStreamBeginCapture(in, cudaStreamCaptureModeThreadLocal));
      answer_once<<<1, 1, 0, in>>>(at);
      check(cudaStreamEndCapture(in, &graph));
      check(cudaGraphInstantiate(&ready, graph, 0));
      check(cudaGraphDestroy(graph));
    }
    check(cudaGraphLaunch(ready, in));
  });
  check(cudaGraphExecDestroy(ready));
  return m;
}

measurement flag_ping_pong(sample_budget const& budget) {
  stream const in;
  pinned<flags> const shared;
  flag_server const server(shared, in);
  return round_trips(budget, [&](std::uint64_t number) -> std::uint64_t {
    return server.ask(static_cast<std::uint32_t>(number + 1)) - 1;
  });
}

// -- memory

measurement malloc_and_free(sample_budget const& budget) {
  return durations(budget, "acquire_release_ns", [](std::uint64_t) {
    void* p = nullptr;
    check(cudaMalloc(&p, acquired_bytes));
    check(cudaFree(p));
  });
}

/// Keeps the stream's pool warm, as a program would.
measurement malloc_async_and_free(sample_budget const& budget) {
  cudaMemPool_t pool{};
  auto all = ~std::uint64_t{0};
  check(cudaDeviceGetDefaultMemPool(&pool, 0));
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
  stream const in;
  return durations(budget, "acquire_release_ns", [&](std::uint64_t) {
    void* p = nullptr;
    check(cudaMallocAsync(&p, acquired_bytes, in));
    check(cudaFreeAsync(p, in));
  });
}

measurement bare_copy(sample_budget const& budget) {
  pinned<std::byte> const here(copied_bytes);
  stream const in;
  void* there = nullptr;
  check(cudaMallocAsync(&there, copied_bytes, in));
  return durations(budget, "copy_ns", [&](std::uint64_t) {
    check(cudaMemcpyAsync(there, &*here, copied_bytes, cudaMemcpyHostToDevice, in));
    in.wait();
  });
}

// -- twenty steps, launched singly and replayed

struct add_step {
  std::uint32_t* to;
  std::uint32_t n;
  RONDO_HD void operator()(std::uint32_t i) const { to[i] += n; }
};
constexpr std::uint32_t steps = 20, elements = 1024;

/// `once(at)` runs all steps on the elements at `at`, and waits for them.
template <class Once>
measurement all_steps(sample_budget const& budget, Once&& once) {
  std::uint32_t* at = nullptr;
  stream const in;
  check(cudaMallocAsync(&at, elements * sizeof *at, in));
  check(cudaMemsetAsync(at, 0, elements * sizeof *at, in));
  in.wait();
  std::uint64_t rounds = 0;
  auto found = durations(budget, "replay_ns", [&](std::uint64_t) {
    once(at);
    ++rounds;
  });
  std::uint32_t first = 0;
  check(cudaMemcpyAsync(&first, at, sizeof first, cudaMemcpyDeviceToHost, in));
  in.wait();
  check_equal("steps that ran", static_cast<std::uint32_t>(rounds * steps * (steps - 1) / 2), first);
  return found;
}

measurement single_launches(sample_budget const& budget) {
  stream const in;
  return all_steps(budget, [&](std::uint32_t* at) {
    for (std::uint32_t n = 0; n < steps; ++n)
      launch_for_each(static_cast<cudaStream_t>(in), elements, add_step{at, n});
    in.wait();
  });
}

measurement replayed(sample_budget const& budget) {
  check(cudaSetDevice(0));
  cuda_graphs engine(0, [](cudaError_t e, char const*) { return e == cudaSuccess; });
  auto const graph = engine.make_graph();
  bool recorded = false;
  return all_steps(budget, [&](std::uint32_t* at) {
    if (!recorded)
      graph->capture([&](rondo::stream& s) {
        for (std::uint32_t n = 0; n < steps; ++n) s.for_each(elements, add_step{at, n});
      });
    recorded = true;
    if (!graph->replay()) throw std::runtime_error("the graph was not replayed");
  });
}

}  // namespace

case_list bare_cases() {
  auto const round_trip = [](char const* peer, auto run) {
    return bench_case{"gpu_round_trip_bare", peer, {}, run};
  };
  // Rondo's round trips are compared with all of the first four.
  return {round_trip("launch and wait", launch_and_wait),
          round_trip("launch and wait, empty kernel", launch_nothing),
          round_trip("graph and wait", graph_and_wait),
          round_trip("flag ping-pong", flag_ping_pong),
          {"gpu_acquire", "cudaMalloc", {}, malloc_and_free, true},
          {"gpu_acquire", "cudaMallocAsync", {}, malloc_async_and_free, true},
          {"gpu_copy_down", "cudaMemcpyAsync", {}, bare_copy, true},
          {"gpu_graph", "single launches", {}, single_launches, true},
          {"gpu_graph", "rondo graph", {}, replayed}};
}

}  // namespace rondo::bench::gpu
