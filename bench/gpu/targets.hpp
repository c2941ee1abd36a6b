// What Rondo is to reach on a GPU, beside what result lines say it does.
#pragma once

#include <ostream>
#include <vector>

#include "bench/results.hpp"

namespace rondo::bench::gpu {

/// Whether the line comes from bench_gpu.
inline bool is_of_gpu(result const& r) { return r.fields()["device"].IsMap(); }

/// Whether it is one of the round trips that a chart shows beside each other: of one actor and a small message, and of
/// bare CUDA.
bool belongs_to_chart(result const& r);

/// Two tables in Markdown: each target with the best figure at each distance, met or missed; and the round trips in
/// times of each way of bare CUDA, measured in the same run. Without results: the targets, "not yet measured".
void write_summary(std::ostream& out, std::vector<result> const& all);

}  // namespace rondo::bench::gpu
