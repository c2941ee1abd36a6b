// The measurement of one sample of a case: named lists of figures, with the unit in the name ("hops_per_s",
// "round_trip_ns").
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace rondo::bench {

struct metric {
  std::string name;
  std::vector<double> values;
};

/// The first metric is the headline: progress, ratios and plots show it.
struct measurement {
  std::vector<metric> metrics;

  std::vector<double>& operator[](std::string const& name) {
    auto found =
        std::find_if(metrics.begin(), metrics.end(), [&](metric const& m) { return m.name == name; });
    if (found == metrics.end()) found = metrics.insert(metrics.end(), {name, {}});
    return found->values;
  }

  void append(measurement const& other) {
    for (auto const& m : other.metrics) {
      auto& values = (*this)[m.name];
      values.insert(values.end(), m.values.begin(), m.values.end());
    }
  }
};

struct summary {
  std::size_t samples = 0;
  double min = 0, p50 = 0, p90 = 0, p99 = 0, p99_9 = 0, max = 0;
};

/// Exact percentiles by the nearest-rank rule; sorts its own copy. Every percentile is a value that was measured.
inline summary summarise(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  auto const at = [&](double share) {
    auto const rank = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
    return values[rank];
  };
  return {values.size(), values.front(), at(0.5), at(0.9), at(0.99), at(0.999), values.back()};
}

}  // namespace rondo::bench
