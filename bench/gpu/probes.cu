// gpu_probes: measures what single operations of a GPU cost, one probe per process.
//
//   gpu_probes --list    names the probes
//   gpu_probes NAME      runs one and prints one JSON line; it is ended after 15 seconds, with exit status 124
//
// All kernels have one thread per block, and each operation waits for the one before, so that a figure is a latency.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "bench/gpu/gpu.hpp"
#include "bench/gpu/probes.hpp"

namespace rondo::bench::gpu {
namespace {

constexpr std::uint32_t times = 4096;

struct word {
  std::uint32_t next, rest[31];  // a word has a line of 128 bytes of its own
};

// -- loads as written: the compiler must neither merge nor move them

template <bool InL1>
__device__ std::uint32_t load(std::uint32_t const* at) {
  std::uint32_t value;
  if constexpr (InL1)
    asm volatile("ld.weak.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  else
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
__device__ void store(std::uint32_t* at, std::uint32_t value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

enum class step { read_line, read_same, fence_gl, fence_sys, store_fence_gl, store_fence_sys, add };

/// Repeats one step; reports the cycles of all repetitions.
template <step Step>
__global__ void repeat(word* at, std::uint64_t* cycles, std::uint32_t* sink) {
  std::uint32_t i = 0;
  auto const begin = clock64();
  for (std::uint32_t n = 0; n < times; ++n) {
    if constexpr (Step == step::read_line) i = load<false>(&at[i].next);
    if constexpr (Step == step::read_same) i += load<false>(&at[i].next) >> 31;  // stays at the first word
    if constexpr (Step == step::store_fence_gl || Step == step::store_fence_sys) store(&at->rest[0], n);
    if constexpr (Step == step::fence_gl || Step == step::store_fence_gl)
      asm volatile("membar.gl;" ::: "memory");
    if constexpr (Step == step::fence_sys || Step == step::store_fence_sys)
      asm volatile("membar.sys;" ::: "memory");
    if constexpr (Step == step::add) i += atomicAdd(&at[i].rest[1], 1) >> 31;  // each waits for the last
  }
  *cycles = static_cast<std::uint64_t>(clock64() - begin);
  *sink = i;
}

/// Memory of words in a ring that visits them with a large stride.
class words {
 public:
  explicit words(bool on_host) : host_(times) {
    constexpr std::uint32_t stride = 1031;
    for (std::uint32_t i = 0; i < times; ++i) host_[i].next = (i + stride) % times;
    at_ = host_.on_device();
    if (on_host) return;
    check(cudaMalloc(&at_, times * sizeof(word)));
    check(cudaMemcpy(at_, &*host_, times * sizeof(word), cudaMemcpyHostToDevice));
  }
  word* at() const noexcept { return at_; }

 private:
  pinned<word> host_;
  word* at_ = nullptr;
};

/// The shortest of five runs: others can only be slower.
template <step Step, bool OnHost>
reading cost() {
  words const memory(OnHost);
  stream const in;
  pinned<std::uint64_t> const cycles;
  pinned<std::uint32_t> const sink;
  double best = 1e18;
  for (int run = 0; run < 5; ++run) {
    repeat<Step><<<1, 1, 0, in>>>(memory.at(), cycles.on_device(), sink.on_device());
    check(cudaGetLastError());
    in.wait();
    best = std::min(best, static_cast<double>(*cycles));
  }
  return {best * 1e3 / multiprocessor_mhz() / times};
}

// -- the two sides of the bus

reading flag_round_trip() {
  pinned<flags> const shared;
  stream const in;
  flag_server const server(shared, in);
  std::vector<double> ns;
  for (std::uint32_t n = 1; n <= 20'000; ++n) {
    auto const begin = std::chrono::steady_clock::now();
    server.ask(n);
    ns.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(ns.begin(), ns.end());
  return {ns[ns.size() / 2], "ns", "median; host writes, GPU polls, GPU writes, host polls"};
}

/// Reads a word until it changes, for 100 ms at most.
template <bool InL1>
__global__ void watch(std::uint32_t const* at, flags* shared, std::uint64_t* changed_ns) {
  load<InL1>(at);
  auto const begin = dead_man::now();
  shared->answered.store(1, memory_order::relaxed);  // relaxed: a request to write
  *changed_ns = 0;
  while (dead_man::now() - begin < 100'000'000)
    if (load<InL1>(at) != 0) {
      *changed_ns = dead_man::now() - begin;
      return;
    }
}
__global__ void write_when_asked(std::uint32_t* at, flags* shared) {
  for (dead_man host; shared->answered.load(memory_order::relaxed) == 0 && !host.over();) {
  }
  store(at, 1);
}

/// Whether a load keeps to an old value: from asking for a write, by the host or another block, until its value is
/// seen.
template <bool InL1, bool OnHost>
reading staleness() {
  pinned<std::uint32_t> const here;
  pinned<flags> const shared;
  pinned<std::uint64_t> const changed_ns;
  stream const reads, writes;
  auto* at = here.on_device();
  if (!OnHost) {
    check(cudaMalloc(&at, sizeof *at));
    check(cudaMemset(at, 0, sizeof *at));
    check(cudaDeviceSynchronize());
  }
  watch<InL1><<<1, 1, 0, reads>>>(at, shared.on_device(), changed_ns.on_device());
  if (OnHost) {
    while (shared->answered.load(memory_order::relaxed) == 0 && cudaStreamQuery(reads) == cudaErrorNotReady) {
    }
    *static_cast<std::uint32_t volatile*>(&here[0]) = 1;
  } else {
    write_when_asked<<<1, 1, 0, writes>>>(at, shared.on_device());
  }
  check(cudaGetLastError());
  reads.wait();
  writes.wait();
  bool const seen = *changed_ns != 0;
  return {seen ? static_cast<double>(*changed_ns) : -1, "ns",
          seen ? "until the new value was seen" : "the old value was read for 100 ms"};
}

// -- clocks

__global__ void find_step(std::uint64_t* smallest) {
  std::uint64_t least = ~0ull;
  for (int n = 0; n < 1000; ++n) {
    auto const before = dead_man::now();
    auto after = before;
    while (after == before) after = dead_man::now();
    least = min(least, after - before);
  }
  *smallest = least;
}
reading globaltimer_step() {
  stream const in;
  pinned<std::uint64_t> const smallest;
  find_step<<<1, 1, 0, in>>>(smallest.on_device());
  check(cudaGetLastError());
  in.wait();
  return {static_cast<double>(*smallest)};
}
reading clock_rate() { return {multiprocessor_mhz(), "MHz"}; }

reading load_and_launch() {
  auto const begin = std::chrono::steady_clock::now();
  multiprocessor_mhz();
  std::chrono::duration<double, std::milli> const took = std::chrono::steady_clock::now() - begin;
  return {took.count() - 40, "ms", "a new context and the first kernel"};
}
reading host_native_atomics() {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, cudaDevAttrHostNativeAtomicSupported, 0));
  return {static_cast<double>(value), "yes", "atomics of the GPU on host memory"};
}

// -- the program

char const* running = "";
void expire(int) {
  char const text[] = ": not done after 15 s, so it hangs\n";
  (void)!write(STDERR_FILENO, running, std::char_traits<char>::length(running));
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  _exit(124);  // the driver ends the kernels that still run
}

int run(probe const& one) {
  running = one.name;
  std::signal(SIGALRM, expire);  // also reaches a thread that waits in a call of CUDA
  alarm(15);
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  try {
    auto const found = one.measure();
    std::printf("{\"probe\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"note\": \"%s\"}\n", one.name,
                found.value, found.unit, found.note.c_str());
    return 0;
  } catch (std::exception const& e) {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count != 0)
      return std::fprintf(stderr, "%s: %s\n", one.name, e.what()), 1;
    return std::puts("skipped: there is no GPU"), 0;
  }
}

}  // namespace

std::vector<probe> cost_probes() {
  return {{"load_and_launch", load_and_launch},
          {"multiprocessor_clock", clock_rate},
          {"globaltimer_step", globaltimer_step},
          {"host_native_atomics", host_native_atomics},
          {"pcie_read", cost<step::read_line, true>},
          {"pcie_poll", cost<step::read_same, true>},
          {"flag_round_trip", flag_round_trip},
          {"l2_read", cost<step::read_line, false>},
          {"l2_poll", cost<step::read_same, false>},
          {"l2_atomic", cost<step::add, false>},
          {"fence_gl", cost<step::fence_gl, false>},
          {"fence_sys", cost<step::fence_sys, false>},
          {"store_fence_gl", cost<step::store_fence_gl, false>},
          {"store_fence_sys", cost<step::store_fence_sys, false>},
          {"host_store_fence_gl", cost<step::store_fence_gl, true>},
          {"host_store_fence_sys", cost<step::store_fence_sys, true>},
          {"stale_relaxed_of_device", staleness<false, false>},
          {"stale_l1_of_device", staleness<true, false>},
          {"stale_relaxed_of_host", staleness<false, true>},
          {"stale_l1_of_host", staleness<true, true>}};
}

}  // namespace rondo::bench::gpu

int main(int argc, char** argv) {
  using namespace rondo::bench::gpu;
  auto all = cost_probes();
  for (auto const more : {contention_probes, beside_probes})
    for (auto const& one : more()) all.push_back(one);
  std::string const name = argc == 2 ? argv[1] : "";
  if (name == "--list") {
    for (auto const& one : all) std::puts(one.name);
    return 0;
  }
  for (auto const& one : all)
    if (name == one.name) return run(one);
  std::fprintf(stderr, "usage: gpu_probes --list, or gpu_probes NAME\n");
  return 2;
}
