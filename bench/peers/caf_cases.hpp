// CAF 0.17.6, the actor library that Debian packages, doing the same work as Rondo's actors.
//
// It allocates every message, its mailboxes are unbounded, and only later versions have metrics; there is therefore no
// CAF row for the cost of metrics.
#pragma once

#include "bench/harness/bench_case.hpp"

namespace rondo::bench {

/// Ping-pong (pooled, detached, one worker), ring of 1,000, fan-in of 1, 2 and 4 producers.
case_list caf_messaging_cases();

/// Ask from outside (hot and after 1 ms idle), and an urgent message behind 20,000 ordinary ones.
case_list caf_latency_cases();

/// Spawn 100,000 actors; processor time of an idle system.
case_list caf_population_cases();

case_list caf_cases();

}  // namespace rondo::bench
