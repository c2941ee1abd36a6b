// The part of docs/benchmarks.md that bench_memory's figures fill.
#pragma once

#include <ostream>
#include <string>

namespace rondo::bench {

/// `json`: what bench_memory wrote with --benchmark_out and repetitions, or empty when it did not run. Throws std::runtime_error that
/// names the file and what it lacks.
void write_memory_part(std::ostream& out, std::string const& json);

}  // namespace rondo::bench
