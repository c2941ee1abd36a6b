// The kernels of the conformance suite, compiled for players.
#pragma once

#include "runtime/player/kernel_program.hpp"

namespace conformance {

extern rondo::kernel_program const portable_kernels;

}  // namespace conformance
