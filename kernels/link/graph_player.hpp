// Interface that replays the graphs of captured actors; teams of a `cpu` device call it (kernels/actor/captured.hpp).
#pragma once

#include "kernels/base/message.hpp"
#include "kernels/base/status.hpp"

namespace rondo {

/// Threads: any, but only one at a time for each actor.
class graph_player {
 public:
  virtual ~graph_player() = default;
  /// Replays the actor's graph on the request's bytes and waits for the reply's. Errors: no_graph; payload_too_large if
  /// the graph was captured for other sizes; device_lost. Exceptions of its steps pass through.
  virtual errc replay(actor_id actor, void const* request, std::uint32_t request_bytes, void* reply,
                      std::uint32_t reply_bytes) = 0;
};

}  // namespace rondo
