// What replays the graphs of captured actors; a team of the device `cpu` calls it (kernels/actor/captured.hpp).
#pragma once

#include "kernels/base/message.hpp"
#include "kernels/base/status.hpp"

namespace rondo {

/// Threads: any; for one actor one at a time.
class graph_player {
 public:
  virtual ~graph_player() = default;
  /// Replays what is recorded for the actor, with the request's bytes in front, and waits for the reply's. Errors: no_graph,
  /// payload_too_large when the graph was recorded for other sizes, device_lost.
  virtual errc replay(actor_id actor, void const* request, std::uint32_t request_bytes, void* reply,
                      std::uint32_t reply_bytes) noexcept = 0;
};

}  // namespace rondo
