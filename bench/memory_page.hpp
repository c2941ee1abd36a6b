// The part of docs/benchmarks.md that bench_memory's figures fill.
#pragma once

#include <ostream>
#include <string>

namespace rondo::bench {

/// `json`: what bench_memory wrote with --benchmark_out and repetitions, or empty when it did not run. Throws std::runtime_error that
/// names the file and what it lacks.
void write_memory_part(std::ostream& out, std::string const& json);
/// Writes that part anew in a page that is there; the rest stays as it is. Throws as above, and when the page lacks the part.
void renew_memory_part(std::string const& page, std::string const& json);
/// Writes that part anew in a page that is there; the rest stays as it is. Throws as above, and when the page lacks the part.
void renew_memory_part(std::string const& page, std::string const& json);

}  // namespace rondo::bench
