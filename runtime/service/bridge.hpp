// The interface of a bridge, which carries messages to a service's actors other than through its sockets: NATS, in
// runtime/nats/nats_service.hpp.
//
// The service's command makes it, so that the service itself does not depend on what is behind it.
// Threads: all but `checkpoint` from one; `checkpoint` from any.
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

class bridge {
 public:
  virtual ~bridge() = default;

  /// Takes messages from now on. Throws when its server does not come in time.
  virtual void start() = 0;
  /// Takes no more, and waits until all that is open is answered, for at most so long. Returns how many were left.
  virtual std::uint64_t drain(std::chrono::milliseconds most) = 0;
  /// Writes the configuration's checkpoint, with what the bridge must remember in its notes. Blocks. Throws as
  /// rondo::checkpoint; with a bridge nobody else may write that file.
  virtual void checkpoint() = 0;
};

struct bridge_parts {
  rondo::runtime& rt;  // outlives the bridge
  service_config config;
  std::vector<std::byte> notes;                 // of the checkpoint that was restored, if any
  std::function<void(std::string const&)> log;  // from any thread
  nats_counters& counters;                      // outlives the bridge
};
/// Throws config_error for what cannot be. Does not wait for anybody.
using bridge_maker = std::function<std::unique_ptr<bridge>(bridge_parts)>;

}  // namespace rondo::service
