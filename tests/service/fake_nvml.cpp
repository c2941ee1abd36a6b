// A fake of NVIDIA's management library with two GPUs, of which the second reports little; FAKE_NVML_INIT is the return
// value of nvmlInit.
#include <cstdlib>
#include <cstring>

#include "runtime/service/monitor/nvml_types.hpp"

using namespace rondo::service;

namespace {
int number(void* device) { return *static_cast<int*>(device); }
int numbers[] = {0, 1};
constexpr int not_supported = 3;
}  // namespace

extern "C" {
int nvmlInit_v2() {
  char const* const wanted = std::getenv("FAKE_NVML_INIT");
  return wanted == nullptr ? 0 : std::atoi(wanted);
}
int nvmlShutdown() { return 0; }
char const* nvmlErrorString(int status) { return status == 9 ? "Driver Not Loaded" : "Unknown Error"; }
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 2, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) { return *device = &numbers[index], 0; }
int nvmlDeviceGetName(void* device, char* name, unsigned bytes) {
  std::strncpy(name, number(device) == 0 ? "Fake H1" : "Fake H2", bytes);
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, nvml_utilization* rates) {
  if (number(device) != 0) return not_supported;
  return *rates = {.gpu = 73, .memory = 11}, 0;
}
int nvmlDeviceGetMemoryInfo(void*, nvml_memory* memory) {
  return *memory = {.total = 8ull << 30, .free = 5ull << 30, .used = 3ull << 30}, 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) { return *celsius = 61, 0; }
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  return number(device) == 0 ? (*milliwatts = 123456, 0) : not_supported;
}
int nvmlDeviceGetPcieThroughput(void*, int counter, unsigned* kilobytes) {
  return *kilobytes = counter == nvml_pcie_rx ? 2000 : 500, 0;
}
}
