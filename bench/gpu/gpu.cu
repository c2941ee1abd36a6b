#include "bench/gpu/gpu.hpp"

#include <cuda.h>

#include <fstream>
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

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

std::string version(int number) {
  return std::to_string(number / 1000) + '.' + std::to_string(number % 1000 / 10);
}

/// The first line of a file, or "unknown".
std::string line_of(std::string const& path) {
  std::string line;
  return std::getline(std::ifstream(path), line) ? line : "unknown";
}

}  // namespace

void check(cudaError_t outcome, std::source_location where) {
  if (outcome == cudaSuccess) return;
  cudaGetLastError();  // clears the error
  throw std::runtime_error(std::string("CUDA, line ") + std::to_string(where.line()) + " of " +
                           where.file_name() + ": " + cudaGetErrorString(outcome) + " (" +
                           cudaGetErrorName(outcome) + ")");
}

std::string module_loading() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion("cuModuleGetLoadingMode", &entry, 11070, cudaEnableDefault, &found));
  CUmoduleLoadingMode mode{};
  if (found != cudaDriverEntryPointSuccess ||
      reinterpret_cast<CUresult (*)(CUmoduleLoadingMode*)>(entry)(&mode) != CUDA_SUCCESS)
    return "unknown";
  return mode == CU_MODULE_EAGER_LOADING ? "eager" : "lazy";
}

std::vector<std::pair<std::string, std::string>> facts() {
  check(cudaSetDevice(0));
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, 0));
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver));
  check(cudaRuntimeGetVersion(&runtime));
  char bus_id[32] = {};
  check(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 0));
  for (auto& c : bus_id)
    c = static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);  // the spelling of sysfs
  auto const pci = std::string("/sys/bus/pci/devices/") + bus_id + '/';
  return {{"name", gpu.name},
          {"compute_capability", std::to_string(gpu.major) + '.' + std::to_string(gpu.minor)},
          {"multiprocessors", std::to_string(gpu.multiProcessorCount)},
          {"memory_mib", std::to_string(gpu.totalGlobalMem >> 20)},
          {"multiprocessor_mhz_most", std::to_string(attribute(cudaDevAttrClockRate) / 1000)},
          {"multiprocessor_mhz_measured", std::to_string(static_cast<int>(multiprocessor_mhz()))},
          {"memory_mhz_most", std::to_string(attribute(cudaDevAttrMemoryClockRate) / 1000)},
          {"cuda_of_driver", version(driver)},
          {"cuda_of_runtime", version(runtime)},
          {"driver", line_of("/proc/driver/nvidia/version")},
          {"module_loading", module_loading()},
          {"bus", line_of(pci + "current_link_speed") + " x" + line_of(pci + "current_link_width")},
          {"numa_node", line_of(pci + "numa_node")},
          {"host_native_atomics", std::to_string(attribute(cudaDevAttrHostNativeAtomicSupported))}};
}

}  // namespace rondo::bench::gpu
