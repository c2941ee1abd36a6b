// Rondo doing the same work as its peers, with default settings except where a peer's name says otherwise.
#pragma once

#include "bench/harness/bench_case.hpp"

namespace rondo::bench {

/// Ping-pong (pinned, two teams, one team), ring of 1,000, fan-in of 1, 2 and 4 producers, cost of metrics.
case_list rondo_messaging_cases();

/// Ask from outside (hot and after 1 ms idle), and an urgent message behind 20,000 ordinary ones.
case_list rondo_ask_cases();

/// Spawn 100,000 actors; processor time of an idle runtime.
case_list rondo_scale_cases();

case_list rondo_cases();

}  // namespace rondo::bench
