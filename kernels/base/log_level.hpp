// The levels of log lines.
#pragma once

#include "kernels/base/portable.hpp"

namespace rondo {

/// From the least to the most important. `off` is only for thresholds: no line is that important.
enum class log_level : std::uint8_t { trace, debug, info, warning, error, off };

}  // namespace rondo
