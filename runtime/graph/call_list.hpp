// Graphs for devices whose work runs on host threads (`cpu`, `emulated`): a list of calls, which the replaying thread
// runs in order.
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
  /// Without `copies`, both sides share one memory. The objects that `copies` refers to must outlive the graphs.
  explicit call_list_engine(copy_engine copies = {}) : copies_(std::move(copies)) {}
  std::unique_ptr<graph> make_graph() override;

 private:
  copy_engine copies_;
};

}  // namespace rondo
