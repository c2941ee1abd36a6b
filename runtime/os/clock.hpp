// Makes the kernels' clock (kernels/base/clock.hpp) use the processor's time-stamp counter where that can be
// trusted.
#pragma once

namespace rondo {

/// Measures the counter against CLOCK_MONOTONIC, once per process (about 10 ms); later calls return at once.
/// Any thread.
void calibrate_clock();

}  // namespace rondo
