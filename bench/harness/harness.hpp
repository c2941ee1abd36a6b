// Runs cases in rounds of shuffled order, keeps near and far samples apart, and writes one JSON line per
// result.
#pragma once

#include "bench/harness/bench_case.hpp"

namespace rondo::bench {

/// The main function of a bench program. Options: --case, --peer (substrings, repeatable), --rounds,
/// --seconds, --seed,
/// --cpus, --json, --list. Returns 1, with the reason on standard error, when a case computed a wrong result.
///
/// One sample: probe the distance of the two processors, run the case in a forked process, probe again. When
/// the two probes disagree the sample is discarded, counted as mixed and taken again, a few times at most.
int bench_main(int argc, char** argv, case_list cases);

}  // namespace rondo::bench
