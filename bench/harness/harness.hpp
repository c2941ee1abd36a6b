// Runs cases in rounds of shuffled order, keeps near and far samples apart, and writes one JSON line per
// result.
#pragma once

#include "bench/harness/bench_case.hpp"

namespace rondo::bench {

/// The main function of a bench program: a session (session.hpp) of samples that each run in a forked process, with the
/// options of a session and --seconds. Returns 1, with the reason on standard error, if a case computed a wrong result.
int bench_main(int argc, char** argv, case_list cases);

}  // namespace rondo::bench
