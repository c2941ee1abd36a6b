// What a case's samples say: percentiles of its time, counts on its critical path, and the source lines that cost most.
#pragma once

#include <string>
#include <utility>

#include "tests/ptx/cost/cases.hpp"

namespace ptx_cost {

/// All per way: for a case whose sample is two hops, half of the sample.
struct summary {
  double p50_us = 0, p99_us = 0;
  std::array<double, step_kinds> counts{};  // medians
  std::array<double, step_kinds> us{};      // means
  double unseen_us = 0;                     // mean
  double mean_us = 0;
  double sectors = 0;  // mean
  std::vector<std::pair<std::string, double>>
      lines;  // "kernels/mail/mailbox.hpp:12" and its microseconds; the largest first

  sample middle;  // the one with the median of time

  double count(step s) const { return counts[static_cast<std::size_t>(s)]; }
  double time(step s) const { return us[static_cast<std::size_t>(s)]; }
};

/// "kernels/mail/mailbox.hpp:12". For what was inlined from outside the tree, or from the atomics, the line that calls
/// it.
std::string line_of(ptx::module const& code, std::uint32_t place);

/// Precondition: there are samples.
summary summarise(ptx::module const& code, cost_case const& of, std::vector<sample> const& samples);

}  // namespace ptx_cost
