// Writes the part of docs/benchmarks.md that shows the figures of bench_memory.
#pragma once

#include <ostream>
#include <string>

namespace rondo::bench {

/// `json`: the output of bench_memory with --benchmark_out and repetitions, or empty if it did not run. Throws
/// std::runtime_error that names the file and what is missing in it.
void write_memory_part(std::ostream& out, std::string const& json);

}  // namespace rondo::bench
