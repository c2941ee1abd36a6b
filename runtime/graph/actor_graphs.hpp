// The graphs of captured actors, by actor name. They can be captured before or after the actor is launched, restored,
// or restarted.
//
// A graph includes the copies of its messages: it copies the request to the device, runs the captured work, then copies
// the reply back.
//
// Threads: any.
#pragma once

#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "kernels/link/graph_player.hpp"
#include "runtime/graph/graph.hpp"
#include "runtime/memory/two_sided.hpp"

namespace rondo {

class actor_graphs final : public graph_player {
 public:
  /// What to capture for the actor of this name. The graph replaces an earlier one between two of the actor's messages.
  struct capture_request {
    std::string actor;
    std::uint32_t request_bytes, reply_bytes;
    /// Gets the stream and the device addresses of request and reply.
    std::function<void(stream&, std::byte const* request, std::byte* reply)> work;
  };
  using name_of = std::function<std::string(actor_id)>;

  explicit actor_graphs(name_of names) : names_(std::move(names)) {}

  /// Throws boost::system::system_error if `memory` has no room for request and reply, std::runtime_error if the
  /// machine fails, and any exception of the work. The earlier graph then stays.
  void capture(capture_request const& what, graph_engine& engine, memory_pair const& memory);
  errc replay(actor_id actor, void const* request, std::uint32_t request_bytes, void* reply,
              std::uint32_t reply_bytes) override;

 private:
  struct captured {
    std::mutex busy;  // guards the members below
    graph_engine* engine = nullptr;
    std::unique_ptr<graph> steps;
    buffer here, there;  // request and reply; only `here` if both sides share one memory
    std::uint32_t request_bytes = 0, reply_bytes = 0;
  };
  std::shared_ptr<captured> find(actor_id actor);

  name_of names_;
  std::shared_mutex mutex_;  // guards the members below
  std::map<std::string, std::shared_ptr<captured>> by_name_;
  struct known_actor {
    std::uint32_t generation;
    std::shared_ptr<captured> graph;
  };
  std::unordered_map<std::uint32_t, known_actor> by_actor_;  // by index
};

}  // namespace rondo
