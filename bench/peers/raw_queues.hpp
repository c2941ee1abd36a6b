// The raw queues that Debian packages, behind one small interface, and the cases that measure them.
//
// They show what the machine allows: no scheduling, no lifecycle, no priorities. atomic_queue is missing, because
// Debian 12 cannot install it together with Boost 1.81 (its package depends on Boost 1.74).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bench/harness/bench_case.hpp"

namespace rondo::bench {

/// The message of the fan-in cases: 64 bytes, of which eight are read.
struct payload {
  std::uint64_t value = 0;
  std::array<std::byte, 56> rest{};
};
static_assert(sizeof(payload) == 64);

/// Two threads, two queues, one message in flight.
case_list raw_ping_pong_cases();

/// Several producers, one consumer, 64 bytes a message; alone and in batches of 32.
case_list raw_fan_in_cases();

/// A request from a thread to a serving thread, which polls (hot) or is parked (after 1 ms of idling).
case_list raw_ask_cases();

/// One token through a run queue of 1,000 entries on one thread: the minimum cost of scheduling.
case_list raw_ring_cases();

/// All of them, or only the anchors.
case_list raw_cases();
case_list raw_anchors();

}  // namespace rondo::bench
