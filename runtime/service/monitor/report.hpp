// One moment of a service for its operators, gathered from its runtime: what schemas/telemetry.fbs describes, as plain
// structs.
//
//   reporter watcher{rt, {.name = "counters", .incarnation = 7}, &counters, &gpus};
//   report const now = watcher.gather();
//   send(encode(now));
//
// Threads: `gather` from any; the functions hold nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "generated/telemetry_generated.h"
#include "runtime/service/monitor/gpu_monitor.hpp"
#include "runtime/service/monitor/nats_counters.hpp"
#include "runtime/service/monitor/service_counters.hpp"

namespace rondo {
class runtime;
}

namespace rondo::service {

/// The report as a struct.
using report = reports::reportT;

class quotas;
struct gathered;  // from a runtime at one moment

/// Which service it is.
struct service_identity {
  std::string name{};             // in its configuration
  std::uint64_t incarnation = 0;  // changes when it restarts
};

/// Remembers from one report to the next since when teams have been at the same message.
class reporter {
 public:
  /// All outlive this. Null: not reported.
  reporter(runtime& rt, service_identity who, service_counters const* counters = nullptr,
           gpu_monitor* gpus = nullptr);

  /// Reports these, too. They outlive it. Not beside `gather`.
  void watch(nats_counters const& nats) noexcept { nats_ = &nats; }
  /// How full these tables are. They outlive it. Not beside `gather`.
  void watch(quotas const& tables) noexcept { tables_ = &tables; }
  /// One moment. Takes as long as a device needs to answer, and as gpu_monitor::read: not for a thread that serves
  /// others.
  report gather();

 private:
  struct look {
    std::uint32_t actor_plus_one = 0;
    std::uint64_t beats = 0, since_ns = 0;
  };

  void add_actors(report& to, gathered const& from) const;
  void add_teams(report& to, gathered const& from);
  void add_memory(report& to) const;
  void add_connections(report& to) const;
  void add_nats(report& to) const;
  void add_tables(report& to) const;
  void add_graphs(report& to) const;

  runtime& runtime_;
  service_identity who_;
  service_counters const* counters_;
  gpu_monitor* gpus_;
  nats_counters const* nats_ = nullptr;
  quotas const* tables_ = nullptr;
  std::uint64_t began_ns_;
  std::mutex mutex_;
  std::vector<std::vector<look>> looks_;  // by device and team; guarded by mutex_
};

/// The FlatBuffer, as the wire's telemetry_report carries it.
std::vector<std::uint8_t> encode(report const& r);
/// Throws std::runtime_error for bytes that are no report.
report decode(std::span<std::uint8_t const> bytes);
/// For people and other programs: one JSON object, its keys those of the schema.
std::string to_json(report const& r);

/// The latency that a share `q` of the samples in `counts` did not exceed, in ns; interpolated within a bucket.
/// `floors` are latency_floors_ns. 0 without samples.
double latency_at(std::span<std::uint32_t const> counts, std::span<std::uint64_t const> floors, double q);

}  // namespace rondo::service
