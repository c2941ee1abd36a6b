// Reads the load, memory, temperature, power and PCIe traffic of this machine's GPUs from NVIDIA's management library
// (NVML), which is loaded at run time.
//
// Threads: any; one mutex. A read asks the driver, which takes some 50 ms per GPU for its PCIe counters, so a reading
// is reused for a second.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "generated/telemetry_generated.h"

namespace rondo::service {

/// The GPUs of this machine.
struct gpu_reading {
  std::vector<reports::gpuT> gpus{};  // by index
  std::string unavailable{};          // why there are no GPUs; empty: there are
};

class gpu_monitor {
 public:
  /// Does not throw if there is no GPU, driver or library: `read` says what is missing.
  explicit gpu_monitor(std::string library = "libnvidia-ml.so.1",
                       std::chrono::nanoseconds keep = std::chrono::seconds(1));
  ~gpu_monitor();
  gpu_monitor(gpu_monitor const&) = delete;
  gpu_monitor& operator=(gpu_monitor const&) = delete;

  /// The current values, at most `keep` old. May block for some 50 ms per GPU.
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
