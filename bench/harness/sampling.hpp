// The loops that most cases share: fill the budget with operations, or record the latency of each request.
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

/// Throws if a case computed a wrong result: its speed would mean nothing. Call it outside the timed region.
template <class Value>
void check_equal(std::string_view what, Value expected, Value found) {
  if (found != expected)
    throw std::runtime_error(std::string(what) + ": expected " + std::to_string(expected) + ", found " +
                             std::to_string(found));
}

/// Runs `body(n)`, which does n operations, checks them and returns the duration of its timed region. n grows until the
/// budget can be estimated (this is also the warm-up); then one run with that n fills the budget. The body may take
/// `std::uint64_t& n` and round it. `messages_each`: how many messages one operation takes, for the processor time per
/// message.
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

/// Records round trips until the budget is used; the first eighth is warm-up.
class trip_recorder {
  using clock = std::chrono::steady_clock;

 public:
  explicit trip_recorder(sample_budget const& budget) : budget_(budget.time) {
    latencies_ns_.reserve(1 << 20);
  }

  bool more() const noexcept { return now_ - begin_ < budget_; }
  /// The number of the trip that begins; it must come back as number + 1.
  std::uint64_t begin() {
    start_ = clock::now();
    return sent_;
  }
  void end(std::uint64_t reply) {
    now_ = clock::now();
    check_equal("reply", ++sent_, reply);
    if (now_ - begin_ > budget_ / 8)
      latencies_ns_.push_back(std::chrono::duration<double, std::nano>(now_ - start_).count());
  }
  /// `messages_each`: how many messages one trip takes, for the processor time per message.
  measurement finish(std::string const& metric = "round_trip_ns", double messages_each = 2) {
    measurement m;
    m[metric] = std::move(latencies_ns_);
    m["cpu_ns_per_message"] = {cpu_.stop().cpu_ns / (messages_each * static_cast<double>(sent_))};
    return m;
  }

 private:
  std::chrono::nanoseconds budget_;
  std::vector<double> latencies_ns_;
  std::uint64_t sent_ = 0;
  clock::time_point begin_ = clock::now(), now_ = begin_, start_;
  stopwatch cpu_;
};

/// Calls `request(i)`, which must return i + 1, until the budget is used, and records each round trip. Sleeps
/// `idle_before` before each request; the sleep is not counted.
template <class Request>
measurement round_trips(sample_budget const& budget, Request&& request,
                        std::chrono::nanoseconds idle_before = std::chrono::nanoseconds{0}) {
  trip_recorder trips(budget);
  while (trips.more()) {
    if (idle_before.count() > 0) std::this_thread::sleep_for(idle_before);
    auto const number = trips.begin();
    trips.end(request(number));
  }
  return trips.finish();
}

/// Records the duration of each call of `step` as `metric` until the budget is used. A call counts as one message.
template <class Step>
measurement durations(sample_budget const& budget, std::string const& metric, Step&& step) {
  trip_recorder calls(budget);
  while (calls.more()) {
    auto const number = calls.begin();
    step(number);
    calls.end(number + 1);
  }
  return calls.finish(metric, 1);
}

/// Sleeps for `duration`: the processor time that all threads of the process use meanwhile.
inline measurement processor_time_of_idling(std::chrono::nanoseconds duration) {
  stopwatch const watch;
  std::this_thread::sleep_for(duration);
  timing const took = watch.stop();
  measurement m;
  m["cpu_percent"] = {100 * took.cpu_ns / took.wall_ns};
  return m;
}

/// Polls until `ready`, or throws after 30 s, so that a hanging bench reports where it hangs.
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
