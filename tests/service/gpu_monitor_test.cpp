// The report about GPUs, and the reason if there is none. Uses the fake library at FAKE_NVML.
#include "runtime/service/monitor/gpu_monitor.hpp"

#include <cstdlib>

#include "tests/catch.hpp"

using Catch::Matchers::Contains;
using rondo::service::gpu_monitor;

TEST_CASE("a GPU is reported with load, memory, temperature, power and PCIe traffic", "[gpu_monitor]") {
  gpu_monitor monitor(FAKE_NVML);
  auto const reading = monitor.read();
  CHECK(reading.unavailable.empty());
  REQUIRE(reading.gpus.size() == 2);
  auto const& g = reading.gpus[0];
  CHECK(g.name == "Fake H1");
  CHECK(g.utilization_percent == 73);
  CHECK(g.memory_used_bytes == 3ll << 30);
  CHECK(g.memory_total_bytes == 8ll << 30);
  CHECK(g.temperature_celsius == 61);
  CHECK(g.power_watts == Approx(123.456));
  CHECK(g.pcie_rx_bytes_per_second == 2'000'000);
  CHECK(g.pcie_tx_bytes_per_second == 500'000);
}

TEST_CASE("values that a GPU does not provide are left out, and the rest is reported", "[gpu_monitor]") {
  auto const g = gpu_monitor(FAKE_NVML).read().gpus.at(1);
  CHECK(g.utilization_percent == -1);
  CHECK(g.power_watts == -1);
  CHECK(g.temperature_celsius == 61);
}

TEST_CASE("a missing library, a foreign one and a missing driver are reported by name", "[gpu_monitor]") {
  CHECK_THAT(gpu_monitor("libno-such-nvml.so.1").read().unavailable,
             Contains("libno-such-nvml.so.1 is not installed"));
  CHECK_THAT(gpu_monitor("libm.so.6").read().unavailable, Contains("libm.so.6") && Contains("nvmlInit_v2"));
  setenv("FAKE_NVML_INIT", "9", 1);
  CHECK_THAT(gpu_monitor(FAKE_NVML).read().unavailable, Contains("Driver Not Loaded"));
  unsetenv("FAKE_NVML_INIT");
}
