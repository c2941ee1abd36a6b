// Measures the current distance of two processors by bouncing one cache line between them.
//
// On virtual machines the distance changes for minutes at a time, and cross-thread figures change by a factor of two to
// six with it. Samples taken at different distances are different experiments and are never mixed.
#pragma once

#include <string_view>

#include "bench/harness/cpus.hpp"

namespace rondo::bench {

enum class distance { near, far };

/// Below this round trip the two processors share a last-level cache. On a virtual machine with two AMD EPYC cores
/// (family 25 model 17) the shortest of ten bursts was 64 to 92 ns when near and 188 to 510 ns when far, with nothing
/// in between; a threshold of 200 ns would misclassify some far ones.
inline constexpr double far_from_ns = 140;

/// The round trip of one cache line in nanoseconds; takes 1 to 5 ms and starts two pinned threads.
double cache_line_round_trip_ns(cpu_pair cpus);

inline distance classify(double round_trip_ns) {
  return round_trip_ns < far_from_ns ? distance::near : distance::far;
}
constexpr std::string_view to_string(distance d) { return d == distance::near ? "near" : "far"; }

}  // namespace rondo::bench
