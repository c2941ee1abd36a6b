// The error of a graph that cannot start.
#pragma once

#include <stdexcept>
#include <string>

#include "kernels/streams/fault.hpp"

namespace rondo::streams {

/// The text says what is wrong, and at which stage or connection; `of`, whether it lies outside the graph.
class graph_error : public std::runtime_error {
 public:
  /// `why`: text for users.
  explicit graph_error(std::string const& why, fault what = fault::stage)
      : std::runtime_error(why), of(what) {}
  fault of;  // what has failed
};

}  // namespace rondo::streams
