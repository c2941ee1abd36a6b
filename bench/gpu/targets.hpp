// The targets for Rondo on a GPU, and how measured results compare with them.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "bench/results.hpp"

namespace rondo::bench::gpu {

/// What tools/ptx predicts for one way of a message, or for one message of many.
struct prediction {
  double p50_us = 0, p99_us = 0;
};
using predictions = std::map<std::string, prediction>;  // by case

/// Two tables in Markdown: each target with what is predicted and the best figure at each distance, met or missed; and
/// the round trips as multiples of each bare CUDA variant, measured in the same run. Without results: the targets, "not
/// yet measured on a GPU".
void write_summary(std::ostream& out, std::vector<result> const& all, predictions const& predicted);

}  // namespace rondo::bench::gpu
