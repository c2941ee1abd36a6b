// The kernels' clock (kernels/base/clock.hpp) on the host: its relation to the time of day, and its calibration. It
// then uses the processor's time-stamp counter if it is invariant.
#pragma once

#include <cstdint>

namespace rondo {

/// Measures the counter against CLOCK_MONOTONIC, once per process (about 10 ms); later calls return at once.
/// Threads: any.
void calibrate_clock();

/// Added to a time of now_ns(), gives nanoseconds since 1970, modulo 2^64. It changes when the system's clock is set.
std::uint64_t unix_offset_ns();

}  // namespace rondo
