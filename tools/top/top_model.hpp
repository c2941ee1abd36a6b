// The model that `rondo top` makes of the reports that come one after the other: rates, latencies of the last interval,
// and how both went before. It draws nothing.
//
// Bounded: so many intervals back (top_history), for the first top_followed actors with a name.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/service/monitor/report.hpp"

namespace rondo::tools {

inline constexpr std::size_t top_history = 240;    // intervals
inline constexpr std::size_t top_followed = 1024;  // actors whose past is kept

/// The samples of one interval, by duration: buckets of report::latency_floors_ns.
using latency_counts = std::vector<std::uint32_t>;

/// One actor over the last interval.
struct top_actor {
  reports::actorT const* now = nullptr;      // in top_model::now
  double rate = 0;                           // messages handled per second
  double p50_ns = 0, p99_ns = 0;             // 0: no message of the interval was sampled
  std::uint64_t new_errors = 0;              // in the interval
  std::deque<float> const* rates = nullptr;  // one per interval, newest last; null: its past is not kept
  std::deque<latency_counts> const* latencies = nullptr;
  latency_counts samples{};  // of the interval

  std::uint64_t errors() const { return now->failures + now->dead + now->rejected; }
  /// Share of its mailbox that is full.
  double fill() const { return now->capacity == 0 ? 0 : static_cast<double>(now->waiting) / now->capacity; }
  double running_seconds() const {
    return now->running ? static_cast<double>(now->running->for_ns) * 1e-9 : 0;
  }
};

/// A stage of a graph over the last interval.
struct top_stage {
  reports::graphT const* graph = nullptr;  // in top_model::now
  reports::stageT const* now = nullptr;
  double rate = 0;                           // ticks per second
  double busy = 0;                           // share of the time that its replicas spent on ticks
  double mean_ns = 0;                        // for one tick; 0: none has ended
  bool loses = false, is_late = false;       // in the interval
  std::uint64_t running_ns = 0;              // how long one of its handlers has run at least
  std::deque<float> const* rates = nullptr;  // one per interval, newest last; null: its past is not kept

  bool has_counts() const noexcept { return now->counted_ns != 0; }
  /// Frames and ticks that no reader gets.
  std::uint64_t lost() const noexcept { return now->dropped + now->skipped + now->lost; }
};

/// The copies of an output's frames to another device over the last interval.
struct top_transfer {
  reports::graphT const* graph = nullptr;  // in top_model::now
  reports::stage_transferT const* now = nullptr;
  double rate = 0;     // copies per second
  double mean_ns = 0;  // for one copy; 0: none was made
};

/// All of the service over the last interval.
struct top_totals {
  double handled = 0, accepted = 0, failures = 0, dead = 0;  // per second
  double requests = 0, received_bytes = 0, sent_bytes = 0;   // per second
  double p50_ns = 0, p99_ns = 0;
  bool at_rest = false;  // nothing was accepted in the interval, and no team is busy
};

class top_model {
 public:
  /// The next moment. One of another life of the service, or older than the last, begins everything anew.
  void add(service::report next);

  bool has_report() const noexcept { return has_report_; }
  /// Rates need two.
  bool has_interval() const noexcept { return seconds_ > 0; }
  double seconds() const noexcept { return seconds_; }
  service::report const& now() const noexcept { return now_; }
  top_totals const& totals() const noexcept { return totals_; }
  /// In the order of the report. Void after the next `add`.
  std::vector<top_actor> const& actors() const noexcept { return actors_; }
  /// In the order of the report. Void after the next `add`.
  std::vector<top_stage> const& stages() const noexcept { return stages_; }
  std::vector<top_transfer> const& transfers() const noexcept { return transfers_; }
  std::deque<float> const& rates() const noexcept { return rates_; }
  /// Of all actors together.
  std::deque<latency_counts> const& latencies() const noexcept { return latencies_; }

 private:
  using key = std::tuple<std::uint32_t, std::uint32_t>;  // index, generation
  struct past {
    std::deque<float> rates;
    std::deque<latency_counts> latencies;
    bool lives = true;
  };

  void count_actors(service::report const& before);
  void count_totals(service::report const& before);
  void count_graphs(service::report const* before);

  bool has_report_ = false;
  double seconds_ = 0;
  service::report now_;
  top_totals totals_;
  std::vector<top_actor> actors_;
  std::map<key, past> pasts_;
  std::deque<float> rates_;
  std::deque<latency_counts> latencies_;
  std::vector<top_stage> stages_;
  std::vector<top_transfer> transfers_;
  std::map<std::pair<std::string, std::string>, std::deque<float>> stage_rates_;  // by graph and stage
};

}  // namespace rondo::tools
