// The targets for Rondo on a GPU, and how measured results compare with them.
#pragma once

#include <ostream>
#include <vector>

#include "bench/results.hpp"

namespace rondo::bench::gpu {

/// Two tables in Markdown: each target with the best figure at each distance, met or missed; and the round trips as multiples
/// of each bare CUDA variant, measured in the same run. Without results: the targets, "not yet measured on a GPU".
void write_summary(std::ostream& out, std::vector<result> const& all);

}  // namespace rondo::bench::gpu
