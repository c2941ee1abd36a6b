// The kernels of tests/player/kernels.hpp, compiled for players.
#pragma once

#include "runtime/player/kernel_program.hpp"

namespace rondo {

extern kernel_program const test_kernels;

}  // namespace rondo
