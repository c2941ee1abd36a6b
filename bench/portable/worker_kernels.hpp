// The worker of the bench, compiled for players.
#pragma once

#include "runtime/player/kernel_program.hpp"

namespace portable_bench {

extern rondo::kernel_program const worker_kernels;

}  // namespace portable_bench
