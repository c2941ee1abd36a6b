// The targets for Rondo on a GPU, and how measured results compare with them.
#pragma once

#include <ostream>
#include <vector>

#include "bench/results.hpp"

namespace rondo::bench::gpu {

/// Whether bench_gpu wrote the line.
inline bool is_of_gpu(result const& r) { return r.fields()["device"].IsMap(); }

/// Whether it is one of the round trips that a chart shows next to each other: those of one actor and a small message, and
/// those of bare CUDA.
bool belongs_to_chart(result const& r);

/// Two tables in Markdown: each target with the best figure at each distance, met or missed; and the round trips as multiples
/// of each bare CUDA variant, measured in the same run. Without results: the targets, "not yet measured".
void write_summary(std::ostream& out, std::vector<result> const& all);

}  // namespace rondo::bench::gpu
