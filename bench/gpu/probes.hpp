// The probes: each measures one thing that a GPU does, in a process of its own, and prints one JSON line.
#pragma once

#include <string>
#include <vector>

namespace rondo::bench::gpu {

struct reading {
  double value = 0;
  char const* unit = "ns";
  std::string note{};  ///< what the value means, where its name does not say it
};

struct probe {
  char const* name;  ///< of the cost, for bench/results/gpu_costs.json
  reading (*measure)();
};

/// Reads, writes, fences and clocks (probes.cu).
std::vector<probe> cost_probes();
/// The same operations beside others of their kind (probes_contention.cu).
std::vector<probe> contention_probes();
/// What works beside a kernel that never ends, and what waits for it (probes_beside.cu).
std::vector<probe> beside_probes();

}  // namespace rondo::bench::gpu
