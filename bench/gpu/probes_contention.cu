// What operations cost beside others of their kind: additions and exchanges on one word by many warps, loads beside
// warps that acquire, reads over the bus beside teams that poll it.
#include <algorithm>

#include "bench/gpu/gpu.hpp"
#include "bench/gpu/probes.hpp"

namespace rondo::bench::gpu {
namespace {

constexpr std::uint32_t times = 1024;

/// Device memory for one kernel: zeroed, freed with its scope.
class device_words {
 public:
  explicit device_words(std::size_t bytes) {
    check(cudaMalloc(&at_, bytes));
    check(cudaMemset(at_, 0, bytes));
    check(cudaDeviceSynchronize());
  }
  ~device_words() { cudaFree(at_); }
  device_words(device_words const&) = delete;
  device_words& operator=(device_words const&) = delete;
  std::uint32_t* at() const noexcept { return static_cast<std::uint32_t*>(at_); }

 private:
  void* at_ = nullptr;
};

// -- one word, many warps

/// Lane 0 of each warp takes `times` numbers from one word. All begin together: a start word keeps the first ones.
template <bool Exchanges>
__global__ void take_numbers(std::uint32_t* word, std::uint32_t* begun, std::uint32_t warps,
                             std::uint64_t* spans) {
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(begun, 1);
  for (dead_man host; *static_cast<std::uint32_t volatile*>(begun) != warps && !host.over();) {
  }
  auto const from = dead_man::now();
  for (std::uint32_t n = 0; n < times; ++n) {
    if constexpr (Exchanges) {
      for (std::uint32_t seen = *static_cast<std::uint32_t volatile*>(word), before = seen;; before = seen) {
        seen = atomicCAS(word, before, before + 1);
        if (seen == before) break;
      }
    } else {
      atomicAdd(word, 1);
    }
  }
  auto const warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  spans[2 * warp] = from, spans[2 * warp + 1] = dead_man::now();
}

/// Nanoseconds between two numbers, over all warps.
template <bool Exchanges, std::uint32_t Warps>
reading numbers() {
  device_words const word(256);
  pinned<std::uint64_t> const spans(2 * Warps);
  stream const in;
  auto* begun = word.at() + 32;
  constexpr unsigned per_block = Warps < 4 ? Warps : 4;
  auto warps = Warps;
  auto* at = word.at();
  auto* to = spans.on_device();
  void* arguments[] = {&at, &begun, &warps, &to};
  // Cooperative: all warps run at once, or it does not start.
  check(cudaLaunchCooperativeKernel(reinterpret_cast<void const*>(&take_numbers<Exchanges>),
                                    dim3{Warps / per_block}, dim3{per_block * 32}, arguments, 0, in));
  in.wait();
  auto first = spans[0], last = spans[1];
  for (std::uint32_t w = 1; w < Warps; ++w) {
    first = std::min(first, spans[2 * w]);
    last = std::max(last, spans[2 * w + 1]);
  }
  return {static_cast<double>(last - first) / (double{times} * Warps), "ns",
          "between two, by all warps together"};
}

// -- loads of a warp beside warps of its multiprocessor that acquire

enum class where { l1, stack };

/// Warp 0 loads `times` times, one load after the other; the others acquire until it has ended.
template <where Where>
__global__ void load_beside(std::uint32_t* words, std::uint32_t* ended, std::uint64_t* cycles,
                            std::uint32_t* sink) {
  if (threadIdx.x >= 32) {
    if (threadIdx.x % 32 != 0) return;
    std::uint32_t sum = 0;
    for (dead_man host; *static_cast<std::uint32_t volatile*>(ended) == 0 && !host.over();) {
      std::uint32_t value;
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(words + 1024) : "memory");
      sum += value;
    }
    *sink = sum;
    return;
  }
  std::uint32_t mine[32];
  for (std::uint32_t i = 0; i < 32; ++i) mine[i] = words[i];  // zeros, which the compiler does not know
  std::uint32_t i = 0;
  auto const begin = clock64();
  for (std::uint32_t n = 0; n < times; ++n) {
    if constexpr (Where == where::l1)
      asm volatile("ld.weak.global.ca.u32 %0, [%1];" : "=r"(i) : "l"(words + i) : "memory");
    else
      i = static_cast<std::uint32_t volatile*>(mine)[i];
  }
  if (threadIdx.x != 0) return;
  *cycles = static_cast<std::uint64_t>(clock64() - begin);
  *sink = i;
  atomicExch(ended, 1);
}
template <where Where, unsigned Others>
reading beside_acquires() {
  device_words const words(8192);
  pinned<std::uint64_t> const cycles;
  pinned<std::uint32_t> const sink;
  stream const in;
  load_beside<Where>
      <<<1, 32 * (1 + Others), 0, in>>>(words.at(), words.at() + 1536, cycles.on_device(), sink.on_device());
  check(cudaGetLastError());
  in.wait();
  return {static_cast<double>(*cycles) * 1e3 / multiprocessor_mhz() / times, "ns",
          "one load after the other, beside " + std::to_string(Others) + " warps that acquire"};
}

// -- reads over the bus

/// Block 0 reads host memory, `Depth` loads under way; the others poll a line of their own there until it has ended.
template <std::uint32_t Depth>
__global__ void read_host(std::uint32_t const* host, std::uint32_t* ended, std::uint64_t* cycles,
                          std::uint32_t* sink) {
  auto const load = [](std::uint32_t const* at) {
    std::uint32_t value;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
  };
  std::uint32_t sum = 0;
  if (blockIdx.x != 0) {
    for (dead_man host_lives; *static_cast<std::uint32_t volatile*>(ended) == 0 && !host_lives.over();)
      sum += load(host + 32 * (1024 + blockIdx.x));
    *sink = sum;
    return;
  }
  auto const begin = clock64();
  for (std::uint32_t n = 0; n < times; n += Depth) {
    std::uint32_t some[Depth];
#pragma unroll
    for (std::uint32_t d = 0; d < Depth; ++d) some[d] = load(host + 32 * ((n + d) % 1024) + (sum >> 31));
#pragma unroll
    for (std::uint32_t d = 0; d < Depth; ++d) sum += some[d];
  }
  *cycles = static_cast<std::uint64_t>(clock64() - begin);
  *sink = sum;
  atomicExch(ended, 1);
}
template <std::uint32_t Depth, unsigned Pollers>
reading host_reads() {
  device_words const ended(128);
  pinned<std::uint32_t> const host(std::size_t{32} * 2048);
  pinned<std::uint64_t> const cycles;
  pinned<std::uint32_t> const sink;
  stream const in;
  read_host<Depth>
      <<<1 + Pollers, 1, 0, in>>>(host.on_device(), ended.at(), cycles.on_device(), sink.on_device());
  check(cudaGetLastError());
  in.wait();
  return {static_cast<double>(*cycles) * 1e3 / multiprocessor_mhz() / times, "ns",
          "for each read, " + std::to_string(Depth) + " under way, beside " + std::to_string(Pollers) +
              " pollers"};
}

}  // namespace

std::vector<probe> contention_probes() {
  return {{"additions_1", numbers<false, 1>},
          {"additions_8", numbers<false, 8>},
          {"additions_64", numbers<false, 64>},
          {"additions_528", numbers<false, 528>},
          {"exchanges_1", numbers<true, 1>},
          {"exchanges_8", numbers<true, 8>},
          {"exchanges_64", numbers<true, 64>},
          {"exchanges_528", numbers<true, 528>},
          {"l1_load", beside_acquires<where::l1, 0>},
          {"l1_load_beside_1", beside_acquires<where::l1, 1>},
          {"l1_load_beside_3", beside_acquires<where::l1, 3>},
          {"stack_load", beside_acquires<where::stack, 0>},
          {"stack_load_beside_1", beside_acquires<where::stack, 1>},
          {"stack_load_beside_3", beside_acquires<where::stack, 3>},
          {"host_reads_2", host_reads<2, 0>},
          {"host_reads_4", host_reads<4, 0>},
          {"host_reads_8", host_reads<8, 0>},
          {"host_read_beside_8", host_reads<1, 8>},
          {"host_read_beside_32", host_reads<1, 32>},
          {"host_read_beside_131", host_reads<1, 131>}};
}

}  // namespace rondo::bench::gpu
