// One line of results: a case at one distance, with its summaries and its provenance, as JSON.
#pragma once

#include <string>

#include "bench/harness/bench_case.hpp"
#include "bench/harness/distance.hpp"
#include "bench/harness/provenance.hpp"

namespace rondo::bench {

/// The samples of one case at one distance.
struct collected {
  measurement pooled;
  std::vector<double> probe_ns;  ///< cache-line round trips measured before and after its samples
  unsigned samples = 0;
};

/// `mixed` counts samples discarded because the distance changed during them. `ratio_to_anchor` compares the median of
/// the headline with the anchor's; 0 means that there is no anchor for this work and distance.
std::string result_line(bench_case const& work, distance where, collected const& found, unsigned mixed,
                        double ratio_to_anchor, std::string const& anchor, provenance const& from);

}  // namespace rondo::bench
