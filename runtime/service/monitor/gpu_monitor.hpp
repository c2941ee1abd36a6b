// Reads the load, memory, temperature, power and PCIe traffic of this machine's GPUs from NVIDIA's management library
// (NVML), which is loaded at run time.
//
// Threads: any; one mutex. A read asks the driver, which takes some 50 ms per GPU for its PCIe counters, so a reading is
// reused for a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace rondo::service {

/// A number that the driver does not report is -1.
struct gpu_line {
  std::uint32_t index = 0;
  std::string name{};
  int utilization_percent = -1;
  std::int64_t memory_used_bytes = -1, memory_total_bytes = -1;
  int temperature_celsius = -1;
  double power_watts = -1;
  std::int64_t pcie_rx_bytes_per_second = -1, pcie_tx_bytes_per_second = -1;
};

struct gpu_reading {
  std::vector<gpu_line> gpus{};
  std::string unavailable{};  // why there are no GPUs; empty: there are
};

class gpu_monitor {
 public:
  /// Does not throw if there is no GPU, driver or library: `read` says what is missing.
  explicit gpu_monitor(std::string library = "libnvidia-ml.so.1",
                       std::chrono::nanoseconds keep = std::chrono::seconds(1));
  ~gpu_monitor();
  gpu_monitor(gpu_monitor const&) = delete;
  gpu_monitor& operator=(gpu_monitor const&) = delete;

  gpu_reading read();

 private:
  struct nvml;

  std::mutex mutex_;
  std::chrono::nanoseconds keep_;
  std::string unavailable_;
  std::unique_ptr<nvml> nvml_;  // null: unavailable_ says why
  std::chrono::steady_clock::time_point read_at_{};
  gpu_reading last_;
};

}  // namespace rondo::service
