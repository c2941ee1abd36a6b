// Serves the actors of a runtime to other processes, over sockets: docs/protocol.md.
//
//   rondo::runtime rt{rondo::use<my_module>};
//   rondo::service::service s{rt, config, {rondo::generated::my_schema()}};
//   s.start();
//   ...
//   s.stop();
//
// Owns a network thread, which runs all connections, and a thread for work that blocks. Threads: construction, `start`,
// `stop` and destruction from one; everything else from any.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/os/made_here.hpp"
#include "runtime/runtime.hpp"
#include "runtime/service/monitor/service_counters.hpp"
#include "runtime/service/service_config.hpp"

namespace rondo::service {

class quotas;
class reporter;

class service {
 public:
  /// `schemas` are the binary schemas of the messages, which clients request. `rt` outlives the service. `log` receives
  /// lines for the operator, from any thread; empty: no log.
  service(rondo::runtime& rt, service_config config, std::vector<std::span<std::byte const>> schemas,
          std::function<void(std::string const&)> log = {});
  /// Stops without waiting for open requests. A forked child's copy does nothing.
  ~service();

  /// Sets the function that writes checkpoints, instead of rondo::checkpoint. It may block and throw. Call this before
  /// `start`.
  void checkpoint_with(std::function<void()> write);
  /// Writes and counts a checkpoint, as on a client's request. Blocks. Throws as rondo::checkpoint does.
  void checkpoint();
  /// Counts a recording that could not be written, for reports.
  void count_failed_recording();
  /// Launches the configured actors that do not exist yet, and listens. Throws config_error for an endpoint that other
  /// machines can reach without token and TLS, a file that cannot be read, or an actor that cannot be launched;
  /// std::system_error if the system refuses a socket.
  void start();
  /// Stops accepting connections and requests, drops waiting `list`, `watch` and `traces`, waits at most config.drain
  /// until all other open requests are answered and sent, and closes all connections. Returns how many requests were
  /// left unanswered. Idempotent.
  std::uint64_t stop();

  /// The addresses that it listens on, with the real port where 0 was configured. Call it after `start`.
  std::vector<endpoint> const& listens_at() const noexcept;
  /// The counts of its connections and requests.
  service_counters const& counters() const noexcept;
  /// Gathers the reports that clients see with `rondo top`.
  reporter& watcher() noexcept;
  /// The tables that its clients share, for other ways to reach its actors. Any thread.
  std::shared_ptr<quotas> tables() const noexcept;
  /// How many connections are open.
  std::size_t connections() const;
  /// Empty while the network thread makes progress. If it has made none for `longest`, says for how long; clients get
  /// no answers then.
  std::string why_not_well(std::chrono::milliseconds longest = std::chrono::seconds(5)) const;
  /// What is wrong, a line each, while it takes work all the same: the last checkpoint could not be written, or the
  /// recording has ended. Any thread.
  std::vector<std::string> conditions() const;
  /// Applies the settings that may change while it runs: limits (for new connections) and tokens. Drops connections
  /// whose token is gone. `start` sets the tokens of the configuration that it was constructed with.
  void reload(service_config const& config);

 private:
  struct parts;
  process_ptr<parts> parts_;
};

}  // namespace rondo::service
