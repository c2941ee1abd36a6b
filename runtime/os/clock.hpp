// Calibration of the kernels' clock (kernels/base/clock.hpp), which then uses the processor's time-stamp counter if it is
// invariant.
#pragma once

namespace rondo {

/// Measures the counter against CLOCK_MONOTONIC, once per process (about 10 ms); later calls return at once.
/// Threads: any.
void calibrate_clock();

}  // namespace rondo
