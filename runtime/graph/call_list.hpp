// Graphs of devices whose work runs on threads of the host, `cpu` and `emulated`: a list of calls, run in order by whoever
// replays it.
#pragma once

#include <mutex>
#include <vector>

#include "runtime/graph/graph.hpp"
#include "runtime/memory/buffer_home.hpp"

namespace rondo {

/// Copies between the host and the device; false: the device is lost.
using copy_engine = std::function<bool(copy_job const&)>;

class call_list_engine final : public graph_engine {
 public:
  /// Without `copies` both sides are one memory. What `copies` refers to outlives the graphs.
  explicit call_list_engine(copy_engine copies = {}) : copies_(std::move(copies)) {}
  std::unique_ptr<graph> make_graph() override;

 private:
  copy_engine copies_;
};

}  // namespace rondo
