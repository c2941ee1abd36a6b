#include "runtime/service/monitor/gpu_monitor.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <type_traits>

#include "runtime/service/monitor/nvml_types.hpp"

namespace rondo::service {

struct gpu_monitor::nvml {
  void* library = nullptr;
  bool begun = false;
  nvml_status (*init)() = nullptr;
  nvml_status (*shutdown)() = nullptr;
  char const* (*error_string)(nvml_status) = nullptr;
  nvml_status (*get_count)(unsigned*) = nullptr;
  nvml_status (*get_device)(unsigned, nvml_device*) = nullptr;
  nvml_status (*get_name)(nvml_device, char*, unsigned) = nullptr;
  nvml_status (*get_utilization)(nvml_device, nvml_utilization*) = nullptr;
  nvml_status (*get_memory)(nvml_device, nvml_memory*) = nullptr;
  nvml_status (*get_temperature)(nvml_device, int, unsigned*) = nullptr;
  nvml_status (*get_power)(nvml_device, unsigned*) = nullptr;                 // milliwatts
  nvml_status (*get_pcie_throughput)(nvml_device, int, unsigned*) = nullptr;  // KB/s

  ~nvml() {
    if (begun) shutdown();
    if (library != nullptr) dlclose(library);
  }

  /// Loads the library. Returns what is missing, or an empty string.
  std::string begin(std::string const& path) {
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      char const* const said = dlerror();
      std::string_view const why = said == nullptr ? "no reason was given" : said;
      if (why.find("No such file") != why.npos) return fmt::format("{} is not installed", path);
      return fmt::format("{} cannot be loaded: {}", path, why);
    }
    std::string missing;
    auto const find = [&](auto& to, char const* name) {
      to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(dlsym(library, name));
      if (to == nullptr && missing.empty()) missing = name;
    };
    find(init, "nvmlInit_v2");
    find(shutdown, "nvmlShutdown");
    find(error_string, "nvmlErrorString");
    find(get_count, "nvmlDeviceGetCount_v2");
    find(get_device, "nvmlDeviceGetHandleByIndex_v2");
    find(get_name, "nvmlDeviceGetName");
    find(get_utilization, "nvmlDeviceGetUtilizationRates");
    find(get_memory, "nvmlDeviceGetMemoryInfo");
    find(get_temperature, "nvmlDeviceGetTemperature");
    find(get_power, "nvmlDeviceGetPowerUsage");
    find(get_pcie_throughput, "nvmlDeviceGetPcieThroughput");
    if (!missing.empty())
      return fmt::format("{} does not have the function {}; install another driver", path, missing);
    if (auto const status = init(); status != 0)
      return fmt::format("{} could not be initialised: {}", path, error_string(status));
    begun = true;
    return {};
  }

  reports::gpuT read_one(unsigned index) const {
    reports::gpuT line;
    line.index = index;
    nvml_device device = nullptr;
    if (get_device(index, &device) != 0) return line;
    char name[nvml_name_bytes] = {};
    if (get_name(device, name, nvml_name_bytes) == 0) line.name.assign(name, strnlen(name, nvml_name_bytes));
    if (nvml_utilization u{}; get_utilization(device, &u) == 0)
      line.utilization_percent = static_cast<int>(u.gpu);
    if (nvml_memory m{}; get_memory(device, &m) == 0) {
      line.memory_used_bytes = static_cast<std::int64_t>(m.used);
      line.memory_total_bytes = static_cast<std::int64_t>(m.total);
    }
    unsigned value = 0;
    if (get_temperature(device, nvml_temperature_of_gpu, &value) == 0)
      line.temperature_celsius = static_cast<int>(value);
    if (get_power(device, &value) == 0) line.power_watts = value / 1e3;
    if (get_pcie_throughput(device, nvml_pcie_rx, &value) == 0)
      line.pcie_rx_bytes_per_second = std::int64_t{value} * 1000;
    if (get_pcie_throughput(device, nvml_pcie_tx, &value) == 0)
      line.pcie_tx_bytes_per_second = std::int64_t{value} * 1000;
    return line;
  }
};

gpu_monitor::gpu_monitor(std::string library, std::chrono::nanoseconds keep)
    : keep_(keep), nvml_(std::make_unique<nvml>()) {
  unavailable_ = nvml_->begin(library);
  if (!unavailable_.empty()) nvml_.reset();
}

gpu_monitor::~gpu_monitor() = default;

gpu_reading gpu_monitor::read() {
  std::lock_guard lock(mutex_);
  if (!nvml_) return {{}, unavailable_};
  auto const now = std::chrono::steady_clock::now();
  if (read_at_ != decltype(read_at_){} && now - read_at_ < keep_) return last_;
  gpu_reading reading;
  unsigned count = 0;
  if (auto const status = nvml_->get_count(&count); status != 0)
    reading.unavailable = fmt::format("the driver does not answer: {}", nvml_->error_string(status));
  else if (count == 0)
    reading.unavailable = "the driver reports no GPU";
  for (unsigned i = 0; i < count; ++i) reading.gpus.push_back(nvml_->read_one(i));
  last_ = std::move(reading);
  read_at_ = now;
  return last_;
}

}  // namespace rondo::service
