// The error of a source whose input is there, but is not what it should be.
#pragma once

#include <stdexcept>

namespace rondo::streams {

/// `open` and `shapes` of a stage throw it. Anything else that a source throws means that its input cannot be opened.
struct bad_contents : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace rondo::streams
