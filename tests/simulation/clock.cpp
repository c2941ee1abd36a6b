// Replaces runtime/os/clock.cpp: virtual time needs no calibration.
#include "runtime/os/clock.hpp"

namespace rondo {

void calibrate_clock() {}

/// Virtual time begins in 1970.
std::uint64_t unix_offset_ns() { return 0; }

}  // namespace rondo
