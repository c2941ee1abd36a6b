#include "bench/gpu/gpu.hpp"

#include <stdexcept>

namespace rondo::bench::gpu {
namespace {

struct clocks {
  std::uint64_t cycles, ns;
};

/// Runs for 20 ms and reports how many cycles its multiprocessor counted.
__global__ void measure_clock(clocks* found) {
  auto const begin_ns = dead_man::now();
  auto const begin = clock64();
  std::uint64_t ns = 0;
  while (ns < 20'000'000) ns = dead_man::now() - begin_ns;
  *found = {static_cast<std::uint64_t>(clock64() - begin), ns};
}

__global__ void serve(flags* at) {
  dead_man host;
  for (std::uint32_t last = 0; !host.over();) {
    auto const asked = at->asked.load(memory_order::relaxed);  // relaxed, both: flags
    if (asked == stop_asked) return;
    if (blockIdx.x != 0) {
      __nanosleep(10'000);
      if (asked != last) host.alive();
      last = asked;
      continue;
    }
    if (asked == last) continue;
    last = asked;
    at->answered.store(asked + 1, memory_order::relaxed);
    host.alive();
  }
}

std::string version(int number) {
  return std::to_string(number / 1000) + '.' + std::to_string(number % 1000 / 10);
}

}  // namespace

void check(cudaError_t outcome, std::source_location where) {
  if (outcome == cudaSuccess) return;
  cudaGetLastError();  // clears the error
  throw std::runtime_error(std::string("CUDA, line ") + std::to_string(where.line()) + " of " +
                           where.file_name() + ": " + cudaGetErrorString(outcome) + " (" +
                           cudaGetErrorName(outcome) + ")");
}

double multiprocessor_mhz() {
  stream const in;
  pinned<clocks> const found;
  for (int i = 0; i < 2; ++i) {  // the first run wakes the GPU
    measure_clock<<<1, 1, 0, in>>>(found.on_device());
    check(cudaGetLastError());
    in.wait();
  }
  return static_cast<double>(found->cycles) * 1e3 / static_cast<double>(found->ns);
}

flag_server::flag_server(pinned<flags> const& shared, stream const& in, unsigned blocks, bool cooperative)
    : flags_(*shared), stream_(in) {
  auto* at = shared.on_device();
  void* arguments[] = {&at};
  auto const kernel = reinterpret_cast<void const*>(&serve);
  check(cooperative ? cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(32), arguments, 0, in)
                    : cudaLaunchKernel(kernel, dim3(blocks), dim3(1), arguments, 0, in));
}

bool flag_server::is_running(std::chrono::milliseconds patience) const {
  constexpr std::uint32_t greeting = 0x1234'5678;
  auto const give_up = std::chrono::steady_clock::now() + patience;
  flags_.asked.store(greeting, memory_order::relaxed);  // relaxed, both: only a number
  while (flags_.answered.load(memory_order::relaxed) != greeting + 1)
    if (std::chrono::steady_clock::now() > give_up) return false;
  return true;
}

std::vector<std::pair<std::string, std::string>> facts() {
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, 0));
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver));
  check(cudaRuntimeGetVersion(&runtime));
  return {{"name", gpu.name},
          {"compute_capability", std::to_string(gpu.major) + '.' + std::to_string(gpu.minor)},
          {"multiprocessors", std::to_string(gpu.multiProcessorCount)},
          {"multiprocessor_mhz_measured", std::to_string(static_cast<int>(multiprocessor_mhz()))},
          {"cuda_of_driver", version(driver)},
          {"cuda_of_runtime", version(runtime)}};
}

}  // namespace rondo::bench::gpu
