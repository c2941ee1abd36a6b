// The errors of a graph that cannot start because of what its sources and sinks open. The type says which of them it is, for programs that
// tell their users.
#pragma once

#include "runtime/streams/kinds/graph_error.hpp"

namespace rondo::streams {

/// A source's input does not exist, or cannot be opened.
struct source_missing : graph_error {
  using graph_error::graph_error;
};
/// A source's input is not what it should be.
struct source_malformed : graph_error {
  using graph_error::graph_error;
};
/// A sink's output cannot be created.
struct sink_refused : graph_error {
  using graph_error::graph_error;
};

}  // namespace rondo::streams
