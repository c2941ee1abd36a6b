// Writes the predicted figures as a part of docs/benchmarks.md: bench/results/gpu_predicted.md.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/ptx/cost/summary.hpp"

namespace ptx_cost {

using results = std::vector<std::pair<cost_case, summary>>;

/// `costs_from`: the file of `c`; empty: the assumed ones. Throws std::runtime_error if the file cannot be written.
void write_page(std::string const& path, results const& all, costs const& c, std::string const& costs_from);

}  // namespace ptx_cost
