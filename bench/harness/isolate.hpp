// Runs one sample in a forked process, so that no case sees another's threads, heap or peak memory.
#pragma once

#include "bench/harness/bench_case.hpp"

namespace rondo::bench {

/// Returns what the case measured, with the metric "peak_rss_growth_bytes" added: the sample's peak resident
/// memory beyond what the harness held when it forked. Throws std::runtime_error with the child's words when
/// the case failed, or with the signal that ended it. Call it while the process has one thread.
measurement run_isolated(bench_case const& work, sample_budget const& budget);

/// Resident memory of this process now, in bytes.
double resident_bytes();

}  // namespace rondo::bench
