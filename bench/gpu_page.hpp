// Writes the part of docs/benchmarks.md that shows what visits to a machine with a GPU found.
#pragma once

#include <ostream>
#include <string>

namespace rondo::bench {

inline constexpr auto gpu_part_begin = "\n<!-- gpu: begin, written by tools/gpu report -->\n";
inline constexpr auto gpu_part_end = "<!-- gpu: end -->\n";

/// `folder`: has gpu_provenance.json, gpu_bench.jsonl, gpu_cases.jsonl and gpu_costs.json, or none of them if nothing
/// was measured; then the part says so. Throws std::runtime_error that names the file and what is wrong with it.
void write_gpu_part(std::ostream& out, std::string const& folder);

/// Replaces the text of `page` from `begin` up to `end`. Throws std::runtime_error if one of them is missing.
void replace_part(std::string const& page, std::string const& begin, std::string const& end,
                  std::string const& with);

}  // namespace rondo::bench
