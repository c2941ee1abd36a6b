// The loops most cases share: fill the budget with operations, or record the latency of each request.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "bench/harness/bench_case.hpp"
#include "bench/harness/stopwatch.hpp"

namespace rondo::bench {

/// Throws when a case computed the wrong thing: its speed would mean nothing. Call it outside the timed
/// region.
template <class Value>
void check_equal(std::string_view what, Value expected, Value found) {
  if (found != expected)
    throw std::runtime_error(std::string(what) + ": expected " + std::to_string(expected) + ", found " +
                             std::to_string(found));
}

/// Runs `body(n)`, which does n operations, checks them and returns the timing of its timed region, with
/// growing n until the budget can be estimated (this is the warm-up too), then once with n filling the
/// budget. The body may take `std::uint64_t& n` and round it. `messages_each`: how many messages one
/// operation takes, for the processor time per message.
template <class Body>
measurement throughput(sample_budget const& budget, std::string const& unit, double messages_each,
                       Body&& body) {
  auto const budget_ns = static_cast<double>(budget.time.count());
  std::uint64_t count = 1024;
  timing took = body(count);
  while (took.wall_ns < budget_ns / 16) {
    count *= 4;
    took = body(count);
  }
  count = static_cast<std::uint64_t>(std::max(1.0, static_cast<double>(count) * budget_ns / took.wall_ns));
  took = body(count);

  measurement m;
  m[unit] = {static_cast<double>(count) * 1e9 / took.wall_ns};
  m["cpu_ns_per_message"] = {took.cpu_ns / (static_cast<double>(count) * messages_each)};
  return m;
}

/// Calls `request(i)`, which must return i + 1, until the budget is used, and records each round trip; the
/// first eighth is warm-up. `idle_before` is slept before each request and is in no figure.
template <class Request>
measurement round_trips(sample_budget const& budget, Request&& request,
                        std::chrono::nanoseconds idle_before = std::chrono::nanoseconds{0}) {
  using clock = std::chrono::steady_clock;
  measurement m;
  auto& latencies_ns = m["round_trip_ns"];
  latencies_ns.reserve(1 << 20);
  auto const begin = clock::now();
  stopwatch cpu;
  std::uint64_t sent = 0;
  for (auto now = begin; now - begin < budget.time; ++sent) {
    if (idle_before.count() > 0) std::this_thread::sleep_for(idle_before);
    auto const start = clock::now();
    std::uint64_t const reply = request(sent);
    now = clock::now();
    check_equal("reply", sent + 1, reply);
    if (now - begin > budget.time / 8)
      latencies_ns.push_back(std::chrono::duration<double, std::nano>(now - start).count());
  }
  m["cpu_ns_per_message"] = {cpu.stop().cpu_ns / (2 * static_cast<double>(sent))};
  return m;
}

/// Polls until `ready` or throws after 30 s: a bench that hangs must say where.
template <class Ready>
void wait_until(std::string_view what, Ready&& ready) {
  auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!ready()) {
    if (std::chrono::steady_clock::now() > give_up)
      throw std::runtime_error("waited 30 s for " + std::string(what));
    std::this_thread::yield();
  }
}

}  // namespace rondo::bench
