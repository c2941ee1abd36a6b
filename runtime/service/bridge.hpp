// The interface of a bridge: another transport, besides sockets, that brings messages to a service's actors, such as
// NATS (runtime/nats/nats_service.hpp).
//
// The serve command creates it, so that the service itself does not depend on the transport's library.
// Threads: `checkpoint` and `conditions` from any, everything else from one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/service/monitor/nats_counters.hpp"
#include "runtime/service/service_config.hpp"

namespace rondo::service {

class quotas;

class bridge {
 public:
  virtual ~bridge() = default;

  /// Starts to take messages. Throws if the server does not answer in time.
  virtual void start() = 0;
  /// Stops taking messages, and waits at most `most` until all open ones are answered. Returns how many were left.
  virtual std::uint64_t drain(std::chrono::milliseconds most) = 0;
  /// Writes the configured checkpoint, with the bridge's own notes. Blocks. Throws as rondo::checkpoint does. Nothing
  /// else may write that file while there is a bridge.
  virtual void checkpoint() = 0;
  /// What is wrong, a line each, while the service takes other work. Any thread.
  virtual std::vector<std::string> conditions() const = 0;
};

/// What a bridge is made of.
struct bridge_parts {
  rondo::runtime& rt;                           // outlives the bridge
  service_config config;                        // of the service
  std::vector<std::byte> notes;                 // of the checkpoint that was restored, if any
  std::function<void(std::string const&)> log;  // from any thread
  nats_counters& counters;                      // outlives the bridge
  std::shared_ptr<quotas> tables;               // of the service
};
/// Throws config_error for settings that cannot work. Does not wait for the server.
using bridge_maker = std::function<std::unique_ptr<bridge>(bridge_parts)>;

}  // namespace rondo::service
