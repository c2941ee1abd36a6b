// Recorded work for one device: recorded once, replayed as a whole.
//
// On `cuda` a CUDA Graph; on `cpu` and `emulated` a list of calls (call_list.hpp).
#pragma once

#include <functional>
#include <memory>

#include "runtime/graph/stream.hpp"

namespace rondo {

/// Threads: one at a time, any.
class graph {
 public:
  virtual ~graph() = default;

  /// Records what `work` puts into the stream; nothing of it runs. The second time with other arguments: the graph is updated in
  /// place where the machine can, which is when the steps and their order are the same, else made anew. Throws
  /// std::runtime_error, or what `work` throws, and keeps what was recorded before.
  virtual void record(std::function<void(stream&)> const& work) = 0;
  /// Runs all of it, in the order recorded, and waits for its end. Several graphs of a device run beside each other. False: the
  /// device is lost. Precondition: it was recorded.
  virtual bool replay() = 0;
};

/// Makes the graphs of one device. Threads: any.
class graph_engine {
 public:
  virtual ~graph_engine() = default;
  virtual std::unique_ptr<graph> make_graph() = 0;
};

}  // namespace rondo
