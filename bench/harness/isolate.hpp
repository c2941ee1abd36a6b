// Runs one sample in a forked process, so that cases do not share threads, heap or peak memory.
#pragma once

#include "bench/harness/bench_case.hpp"

namespace rondo::bench {

/// Returns the measurement of the case, with the metric "peak_rss_growth_bytes" added: the sample's peak resident
/// memory minus what the harness held when it forked. Throws std::runtime_error with the child's error text if the case
/// failed, or with the signal that killed it. Call it while the process has one thread.
measurement run_isolated(bench_case const& work, sample_budget const& budget);

/// Resident memory of this process, in bytes.
double resident_bytes();

}  // namespace rondo::bench
