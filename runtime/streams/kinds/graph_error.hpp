// The error of a graph that cannot start.
#pragma once

#include <stdexcept>

namespace rondo::streams {

/// The text says what is wrong, and at which stage or connection.
class graph_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rondo::streams
