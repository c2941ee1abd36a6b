// A graph: work for one device that is captured once and replayed as a whole.
//
// On `cuda` it is a CUDA Graph; on `cpu` and `emulated`, a list of calls (call_list.hpp).
#pragma once

#include <functional>
#include <memory>

#include "runtime/graph/stream.hpp"

namespace rondo {

/// Threads: one at a time, any.
class graph {
 public:
  virtual ~graph() = default;

  /// Captures the steps that `work` puts into the stream, without running them. If the steps and their order are the
  /// same as before, the graph is updated in place where the machine supports that; otherwise it is rebuilt. Throws
  /// std::runtime_error, or any exception of `work`, and then keeps the earlier graph.
  virtual void capture(std::function<void(stream&)> const& work) = 0;
  /// Runs all steps in the captured order and waits until they are done. Several graphs of a device run concurrently.
  /// False: the device is lost. Precondition: it was captured.
  virtual bool replay() = 0;
};

/// Makes the graphs of one device. Threads: any.
class graph_engine {
 public:
  virtual ~graph_engine() = default;
  /// A graph without steps.
  virtual std::unique_ptr<graph> make_graph() = 0;
};

}  // namespace rondo
