// The result lines of bench programs, read back, and how their figures are written for people.
#pragma once

#include <flatbuffers/flexbuffers.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/measurement.hpp"

namespace rondo::bench {

/// A JSON object that was parsed.
class json_object {
 public:
  /// Throws std::runtime_error that begins with `complaint` if the text is not JSON.
  json_object(std::string const& text, std::string const& complaint);
  flexbuffers::Map fields() const { return flexbuffers::GetRoot(*bytes_).AsMap(); }
  std::string text(char const* key) const { return fields()[key].AsString().str(); }

 private:
  std::shared_ptr<std::vector<std::uint8_t> const> bytes_;
};

/// One JSON line; `fields` keeps what the report only passes on (machine, compiler, ...).
struct result {
  std::string work{}, parameters{}, peer{}, distance{}, allocator{}, headline{};
  double ratio_to_anchor = 0;  ///< 0: no anchor
  bool is_anchor = false;
  json_object line;

  flexbuffers::Map fields() const { return line.fields(); }
  bool has(std::string const& metric) const { return fields()[metric].IsMap(); }
  summary of(std::string const& metric) const;
  /// "caf detached", with the allocator when it is not the usual one.
  std::string series() const { return allocator == "glibc" ? peer : peer + " + " + allocator; }
};

/// Reads a file of result lines; of two about the same thing the later one counts. Throws std::runtime_error with the
/// path, and the line when one cannot be read.
std::vector<result> read_results(std::string const& path);
/// The one with the best figure of those that `holds` is true for; null: there is none.
result const* best_of(std::vector<result> const& all, bool higher_is_better,
                      std::function<bool(result const&)> const& holds,
                      std::function<double(result const&)> const& figure);

/// "7.81 M", "92", "0.37": three digits and a factor.
std::string human(double value);
/// A figure of this metric with a unit people read: nanoseconds become "1.2 us", rates "7.81 M".
std::string human(std::string const& metric, double value);
/// "ring_hops_per_s" as words.
std::string words(std::string name);

inline bool higher_is_better(std::string const& metric) {
  return metric == "ratio_to_anchor" || metric.ends_with("_per_s");
}

}  // namespace rondo::bench
