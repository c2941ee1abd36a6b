// The graphs of captured actors, by the actor's name: recorded before or after the actor is launched, restored or restarted.
//
// A graph has its message in front of it: the request is copied to where the device can read it, then what was recorded runs,
// then the reply is copied back; the copies are steps of the graph.
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
  /// Records, or records anew, for the actor of this name, in the place of an earlier one: between two of its messages.
  struct recording {
    std::string actor;
    std::uint32_t request_bytes, reply_bytes;
    /// Gets the stream, and where on the device the request and the reply are.
    std::function<void(stream&, std::byte const* request, std::byte* reply)> work;
  };
  using name_of = std::function<std::string(actor_id)>;

  explicit actor_graphs(name_of names) : names_(std::move(names)) {}

  /// Throws boost::system::system_error when `memory` has no room for request and reply, std::runtime_error when the machine
  /// refuses, and what the work throws. Then the earlier graph stays.
  void record(recording const& what, graph_engine& engine, memory_pair const& memory);
  errc replay(actor_id actor, void const* request, std::uint32_t request_bytes, void* reply,
              std::uint32_t reply_bytes) noexcept override;

 private:
  struct recorded {
    std::mutex busy;  // guards all below
    graph_engine* engine = nullptr;
    std::unique_ptr<graph> steps;
    buffer here, there;  // request and reply; one block where both sides are one memory
    std::uint32_t request_bytes = 0, reply_bytes = 0;
  };
  std::shared_ptr<recorded> find(actor_id actor);

  name_of names_;
  std::shared_mutex mutex_;  // guards what follows
  std::map<std::string, std::shared_ptr<recorded>> by_name_;
  struct known_actor {
    std::uint32_t generation;
    std::shared_ptr<recorded> graph;
  };
  std::unordered_map<std::uint32_t, known_actor> by_actor_;  // by index
};

}  // namespace rondo
