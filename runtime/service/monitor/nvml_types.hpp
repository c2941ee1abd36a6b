// The part of NVML's interface that the gpu_monitor uses, from its documentation ("NVML API Reference Guide"): its
// header is not in the toolkit's minimal packages.
#pragma once

namespace rondo::service {

using nvml_status = int;  // 0: success
using nvml_device = void*;
struct nvml_utilization {
  unsigned gpu, memory;  // percent
};
struct nvml_memory {
  unsigned long long total, free, used;  // bytes
};
inline constexpr int nvml_temperature_of_gpu = 0;
inline constexpr int nvml_pcie_tx = 0, nvml_pcie_rx = 1;
inline constexpr unsigned nvml_name_bytes = 96;

}  // namespace rondo::service
