// The exception for an invalid configuration.
#pragma once

#include <stdexcept>

namespace rondo {

/// The text names the file or variable, the field, what was found, and what is accepted.
struct config_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace rondo
