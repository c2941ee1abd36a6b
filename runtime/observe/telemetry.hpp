// A snapshot of a whole runtime: each actor's counters and latencies, and the sums that prove conservation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/link/device_event.hpp"
#include "kernels/mail/snapshot.hpp"
#include "runtime/base/device_report.hpp"

namespace rondo {

/// A failure of an actor's handler.
struct actor_failure {
  errc reason = errc::ok;                             // why the handler failed
  failure_action action = failure_action::restarted;  // what followed
  std::uint32_t type = 0;                             // of the message that was handled; 0: on_start failed
  std::uint64_t at_ns = 0;                            // on the device's clock
};

/// One actor.
struct actor_report {
  std::string name;                             // empty: it has none
  std::string behaviour;                        // qualified
  std::uint32_t device = 0;                     // index in `devices`
  actor_snapshot now;                           // its state and counters
  std::optional<actor_failure> last_failure{};  // since the runtime began
  std::uint64_t uptime_ns = 0;       // since its launch, or since it was restored from a checkpoint
  std::uint64_t handled_before = 0;  // messages that it had handled when it was restored

  /// Messages per second that it has handled on average in its uptime.
  double mean_rate() const;
  /// The q-quantile of the sampled latencies, in ns. Interpolated within a bucket (two per octave), so within a fifth
  /// of the true value. 0 without samples.
  double latency_ns(double q) const;
  /// The mean of the sampled latencies. 0 without samples.
  double mean_latency_ns() const;
  /// The lower end of the shortest sampled latency's bucket. 0 without samples.
  double min_latency_ns() const;
  /// The upper end of the longest one's bucket. 0 without samples.
  double max_latency_ns() const;
};

/// One device.
struct device_report {
  device_info info;                      // its description
  std::vector<team_snapshot> teams;      // what each team does
  std::optional<queue_counts> queues{};  // of a device that has a queue pair
};

/// A runtime, read one actor after another while it runs: counts of different actors are of different moments. It is at
/// rest only if several in a row say so (docs/actors.md).
struct telemetry {
  std::vector<device_report> devices;  // by their numbers
  std::vector<actor_report> actors;    // the living ones
  actor_totals live;                   // sums over the actors above
  actor_totals retired;                // sums over the actors that have terminated
  std::uint64_t waiting = 0;       // messages in mailboxes, counted there, independently of the sums above
  std::uint32_t asks_waiting = 0;  // open asks
  std::uint64_t late_answers = 0;  // to asks that had ended
  std::uint64_t dead_letters = 0;  // since the runtime began
  std::uint64_t crossing =
      0;  // accepted messages that wait in the host for room or on their way to another device

  /// Whether accepted == handled + rejected + dead + waiting, over all actors, including terminated ones (G1). False if
  /// a message was lost or counted twice. Valid at rest: while a team runs an actor, the messages that it has taken out
  /// of the mailbox are not counted before it releases the actor.
  bool conserved() const;
};

/// `active`, `deactivated`, ...
char const* name_of(lifecycle state) noexcept;

/// A table for human readers: one line per actor, busiest first.
std::string to_table(telemetry const& t);

}  // namespace rondo
