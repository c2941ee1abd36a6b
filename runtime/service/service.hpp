// Serves the actors of a runtime to other processes, over sockets: docs/protocol.md.
//
//   rondo::runtime rt{rondo::use<my_module>};
//   rondo::service::service s{rt, config, {rondo::generated::my_schema()}};
//   s.start();
//   ...
//   s.stop();
//
// Owns one network thread, on which all its connections live, and one thread for what blocks. Threads: construction,
// `start`, `stop` and destruction from one; all else from any.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/service/monitor/service_counters.hpp"
#include "runtime/service/service_config.hpp"

namespace rondo::service {

class reporter;

class service {
 public:
  /// `schemas` are the binary schemas of the messages; clients ask for them. `rt` outlives the service. `log` gets a line
  /// for each thing that an operator may want to know, from any thread; empty: none.
  service(rondo::runtime& rt, service_config config, std::vector<std::span<std::byte const>> schemas,
          std::function<void(std::string const&)> log = {});
  /// Stops without waiting for anybody.
  ~service();

  /// Clients' checkpoints are written by `write`, which blocks and throws, instead of rondo::checkpoint. Before `start`.
  void checkpoint_with(std::function<void()> write);
  /// Writes a checkpoint as clients have it written, and counts it. Blocks. Throws as rondo::checkpoint.
  void checkpoint();
  /// For reports: a recording could not be written.
  void count_failed_recording();
  /// Launches the actors of the configuration that do not live yet, and listens. Throws config_error for an endpoint that
  /// must not be (beyond this machine without token and TLS), a file that cannot be read, and an actor that cannot be;
  /// std::system_error when the system refuses a socket.
  void start();
  /// Takes no new connections and requests, waits until all open requests are answered and sent, at most for
  /// config.drain, and ends all connections. Returns how many requests were left unanswered. Idempotent.
  std::uint64_t stop();

  /// Where it listens; a port 0 of the configuration is the real one here. After `start`.
  std::vector<endpoint> const& listens_at() const noexcept;
  service_counters const& counters() const noexcept;
  /// Gathers the reports that clients see with `rondo top`.
  reporter& watcher() noexcept;
  std::size_t connections() const;
  /// Empty while the network thread moves; else, after `longest`, for how long it has not. Clients are not answered then.
  std::string why_not_well(std::chrono::milliseconds longest = std::chrono::seconds(5)) const;
  /// Takes over what may change while it runs: limits (for new connections) and the tokens.
  void reload(service_config const& config);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace rondo::service
