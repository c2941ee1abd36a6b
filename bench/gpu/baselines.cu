// What bare CUDA does instead of sending a message: launch and wait, a graph and wait, flags through pinned memory. Also the
// memory-bound kernel that runs next to a ring kernel.
#include <atomic>
#include <cstdint>

#include "bench/gpu/cases.hpp"
#include "bench/gpu/gpu.hpp"
#include "bench/harness/sampling.hpp"

namespace rondo::bench::gpu {
namespace {

// -- a round trip

__global__ void do_nothing() {}

/// The smallest request: one number in, one number out.
__global__ void answer_once(flags* at) {
  at->answered.store(at->asked.load(memory_order::relaxed) + 1, memory_order::relaxed);  // relaxed: flags
}

/// Serves one request after another until it is asked to stop.
__global__ void answer_all(flags* at) {
  dead_man host;
  for (std::uint32_t last = 0; !host.over();) {
    auto const asked = at->asked.load(memory_order::relaxed);  // relaxed, both: flags
    if (asked == stop_asked) return;
    if (asked == last) continue;
    last = asked;
    at->answered.store(asked + 1, memory_order::relaxed);
    host.alive();
  }
}

void prepare(sample_budget const& budget) {
  check(cudaSetDevice(0));
  pin_to(budget.cpus[0]);
}

/// Computes nothing, so there is nothing to check: the shortest possible launch and wait.
measurement launch_nothing(sample_budget const& budget) {
  prepare(budget);
  stream const in;
  return round_trips(budget, [&](std::uint64_t number) {
    do_nothing<<<1, 1, 0, in>>>();
    in.wait();
    return number + 1;
  });
}

measurement launch_and_wait(sample_budget const& budget) {
  prepare(budget);
  stream const in;
  pinned<flags> const shared;
  return round_trips(budget, [&](std::uint64_t number) -> std::uint64_t {
    shared->asked.store(static_cast<std::uint32_t>(number),
                        memory_order::relaxed);  // relaxed, both: the stream orders them
    answer_once<<<1, 1, 0, in>>>(shared.on_device());
    in.wait();
    return shared->answered.load(memory_order::relaxed);
  });
}

/// A graph of one kernel.
class kernel_graph {
 public:
  explicit kernel_graph(flags* argument) {
    check(cudaGraphCreate(&graph_, 0));
    void* arguments[] = {&argument};
    cudaKernelNodeParams node{};
    node.func = reinterpret_cast<void*>(&answer_once);
    node.gridDim = node.blockDim = dim3(1);
    node.kernelParams = arguments;
    cudaGraphNode_t added{};
    check(cudaGraphAddKernelNode(&added, graph_, nullptr, 0, &node));
    check(cudaGraphInstantiate(&ready_, graph_, 0));
  }
  ~kernel_graph() {
    cudaGraphExecDestroy(ready_);
    cudaGraphDestroy(graph_);
  }
  kernel_graph(kernel_graph const&) = delete;
  kernel_graph& operator=(kernel_graph const&) = delete;
  void launch(stream const& in) const { check(cudaGraphLaunch(ready_, in)); }

 private:
  cudaGraph_t graph_{};
  cudaGraphExec_t ready_{};
};

measurement graph_and_wait(sample_budget const& budget) {
  prepare(budget);
  stream const in;
  pinned<flags> const shared;
  kernel_graph const graph(shared.on_device());
  return round_trips(budget, [&](std::uint64_t number) -> std::uint64_t {
    shared->asked.store(static_cast<std::uint32_t>(number),
                        memory_order::relaxed);  // relaxed, both: the stream orders them
    graph.launch(in);
    in.wait();
    return shared->answered.load(memory_order::relaxed);
  });
}

measurement flag_ping_pong(sample_budget const& budget) {
  prepare(budget);
  stream const in;
  pinned<flags> const shared;
  kernel_end const end(*shared, in);
  answer_all<<<1, 1, 0, in>>>(shared.on_device());
  check(cudaGetLastError());
  return round_trips(budget, [&](std::uint64_t number) -> std::uint64_t {
    auto const asked =
        static_cast<std::uint32_t>(number + 1);         // 0 is the value that the kernel has already seen
    shared->asked.store(asked, memory_order::relaxed);  // relaxed, both: flags
    while (shared->answered.load(memory_order::relaxed) != asked + 1) {
    }
    return number + 1;
  });
}

// -- next to a ring kernel

__global__ void copy_words(uint4 const* from, uint4* to, std::size_t words) {
  std::size_t const step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += step)
    to[i] = from[i];
}

constexpr std::size_t copied_bytes = std::size_t{512} << 20;  // ten times the capacity of any L2 cache
constexpr int pattern = 0x5a;
constexpr int launches_between_looks = 4;

}  // namespace

case_list bare_cases() {
  auto const round_trip = [](char const* peer, auto run) {
    return bench_case{"gpu_round_trip_bare", peer, {}, run};
  };
  case_list cases{round_trip("launch and wait", launch_and_wait),
                  round_trip("launch and wait, empty kernel", launch_nothing),
                  round_trip("graph and wait", graph_and_wait), round_trip("flag ping-pong", flag_ping_pong)};
  // All of them, even if only some peers were requested: each of Rondo's round trips is compared with all of them.
  for (auto& one : cases) one.anchor = true;
  return cases;
}

struct copier::state {
  stream in;
  unsigned blocks = 0;
  std::byte *from = nullptr, *to = nullptr;
  pinned<std::byte> part{4096};
};

copier::copier(std::uint32_t multiprocessors) {
  check(cudaSetDevice(0));
  state_ = std::make_unique<state>();
  int all = 0;
  check(cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, 0));
  state_->blocks = 2 * (multiprocessors != 0 ? multiprocessors : static_cast<unsigned>(all));
  for (auto* memory : {&state_->from, &state_->to})
    check(cudaMallocAsync(reinterpret_cast<void**>(memory), copied_bytes, state_->in));
  check(cudaMemsetAsync(state_->from, pattern, copied_bytes, state_->in));
  state_->in.wait();
}

copier::~copier() {
  for (auto* memory : {state_->from, state_->to}) cudaFreeAsync(memory, state_->in);
  cudaStreamSynchronize(state_->in);
}

double copier::run(std::chrono::nanoseconds time) {
  auto& s = *state_;
  check(cudaMemsetAsync(s.to, 0, copied_bytes, s.in));
  s.in.wait();
  stopwatch const watch;
  double wall_ns = 0, launches = 0;
  while (wall_ns < static_cast<double>(time.count())) {
    for (int i = 0; i < launches_between_looks; ++i)
      copy_words<<<s.blocks, 1024, 0, s.in>>>(reinterpret_cast<uint4 const*>(s.from),
                                              reinterpret_cast<uint4*>(s.to), copied_bytes / sizeof(uint4));
    check(cudaGetLastError());
    s.in.wait();
    launches += launches_between_looks;
    wall_ns = watch.stop().wall_ns;
  }
  for (std::size_t const at : {std::size_t{0}, copied_bytes - 4096}) {
    check(cudaMemcpyAsync(&s.part[0], s.to + at, 4096, cudaMemcpyDeviceToHost, s.in));
    s.in.wait();
    for (std::size_t i = 0; i < 4096; ++i)
      check_equal("a copied byte", pattern, std::to_integer<int>(s.part[i]));
  }
  return 2 * launches * static_cast<double>(copied_bytes) * 1e9 / wall_ns;
}

}  // namespace rondo::bench::gpu
