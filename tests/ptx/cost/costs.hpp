// What each step of a GPU costs, in picoseconds: the one table behind all predicted figures.
//
// Every figure is assumed, not measured here: the table says where each one comes from. A file replaces them: by name,
// as in {"pcie_read_ps": 900000, "source": "a data sheet"}, or by what the probes of a visit have measured
// (bench/results/gpu_costs.json).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptx_cost {

struct costs {
  // -- the bus
  std::uint64_t pcie_read_ps = 1'000'000;     // a load of host memory until its value is here
  std::uint64_t posted_write_ps = 450'000;    // a store to host memory until the host sees it
  std::uint64_t posted_write_gap_ps = 2'000;  // between the arrivals of two of them
  std::uint64_t fence_sys_ps = 1'000'000;     // a fence of system scope
  std::uint64_t fence_sys_write_ps =
      1'500'000;  // from the warp's last store to host memory to the end of such a fence
  // -- the device
  std::uint64_t l2_load_ps = 180'000;
  std::uint64_t l2_atomic_ps = 350'000;
  std::uint64_t l2_same_address_ps = 1'200;  // between two atomics on one sector
  std::uint64_t l2_sector_ps = 600;          // between two sectors that one of the L2's slices serves
  std::uint64_t fence_gpu_ps = 350'000;
  std::uint64_t fence_cta_ps = 10'000;
  std::uint64_t fence_acquire_ps = 10'000;  // of gpu or sys scope, and nothing to release
  std::uint64_t l1_load_ps = 20'000;        // a hit; also of local memory
  std::uint64_t shared_ps = 15'000;
  std::uint64_t warp_instruction_ps = 2'300;
  // -- the host
  std::uint64_t host_submit_ps = 100'000;  // from the call until its store is in memory
  std::uint64_t host_take_ps = 60'000;     // from the arrival of a store until the poller has read the event
};

struct cost_row {
  char const* name;
  std::uint64_t costs::*value;
  char const* source;
};

/// All costs, in the order of the struct.
std::vector<cost_row> const& cost_rows();

struct sourced_costs {
  costs values;
  std::map<std::string, std::string> sources;  // by name: of those that the file gave
};
/// Costs from a file; those that it does not give keep their defaults. Throws rondo::config_error.
sourced_costs read_costs(std::string const& path);

}  // namespace ptx_cost
