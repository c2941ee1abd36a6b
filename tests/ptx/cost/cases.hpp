// What is predicted: the ways of a message that have goals in docs/benchmarks.md.
#pragma once

#include <span>
#include <string_view>

#include "tests/ptx/cost/costs.hpp"
#include "tests/ptx/cost/path.hpp"
#include "tests/ptx/machine/ptx_module.hpp"

namespace ptx_cost {

/// A message's way: its time, and what was on its critical path.
struct sample {
  std::uint64_t ps = 0;
  path_costs path;
  std::uint64_t sectors = 0;  // of the L2 that the grid has read or written, if the case counts them
};

struct cost_case {
  enum class module_kind { teams, lanes };  // whether an actor takes a team, or a lane
  std::string_view name, what;
  std::uint32_t per_sample;    // ways or messages that a sample consists of
  std::uint32_t most_samples;  // fewer where a sample takes long
  std::vector<sample> (*run)(ptx::module const&, costs const&, std::uint32_t samples, std::uint64_t seed);
  module_kind of = module_kind::teams;
};
std::span<cost_case const> cost_cases();

}  // namespace ptx_cost
