// The error of everything that reads or executes PTX: it names the file, the line and the text.
#pragma once

#include <stdexcept>
#include <string>

namespace ptx {

struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ptx
