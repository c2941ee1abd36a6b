// The result lines of bench programs, read back, and how their figures are written for people.
#pragma once

#include <flatbuffers/flexbuffers.h>

#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/measurement.hpp"

namespace rondo::bench {

/// One JSON line; `fields` keeps what the report only passes on (machine, compiler, ...).
struct result {
  std::string work, parameters, peer, distance, allocator, headline;
  double ratio_to_anchor = 0;  ///< 0: no anchor
  bool is_anchor = false;
  std::shared_ptr<std::vector<std::uint8_t> const> bytes;

  flexbuffers::Map fields() const { return flexbuffers::GetRoot(*bytes).AsMap(); }
  bool has(std::string const& metric) const { return fields()[metric].IsMap(); }
  summary of(std::string const& metric) const;
  /// "caf detached", with the allocator when it is not the usual one.
  std::string series() const { return allocator == "glibc" ? peer : peer + " + " + allocator; }
};

/// Reads result lines; of two about the same thing the later one counts. Throws std::runtime_error with `source`, for
/// people, and the line when one cannot be read.
std::vector<result> parse_results(std::istream& lines, std::string const& source);
/// The same from a file.
std::vector<result> read_results(std::string const& path);

/// "7.81 M", "92", "0.37": three digits and a factor.
std::string human(double value);
/// A figure of this metric with a unit people read: nanoseconds become "1.2 us", rates "7.81 M".
std::string human(std::string const& metric, double value);
/// "ring_hops_per_s" as words.
std::string words(std::string name);

inline bool higher_is_better(std::string const& metric) {
  return metric == "ratio_to_anchor" ||
         (metric.size() > 6 && metric.compare(metric.size() - 6, 6, "_per_s") == 0);
}

}  // namespace rondo::bench
