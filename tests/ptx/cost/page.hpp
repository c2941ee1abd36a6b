// Writes the predicted figures as a part of docs/benchmarks.md: bench/results/gpu_predicted.md. The page's other parts
// take single figures from gpu_predicted.jsonl beside it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/ptx/cost/ask_steps.hpp"
#include "tests/ptx/cost/summary.hpp"

namespace ptx_cost {

using results = std::vector<std::pair<cost_case, summary>>;

/// `path`: of the page's part. Throws std::runtime_error if a file cannot be written.
void write_page(std::string const& path, results const& all, ask_steps_summary const& steps,
                sourced_costs const& c);

}  // namespace ptx_cost
