// The kernels of kernels/pixels, compiled for players.
#pragma once

#include "runtime/player/kernel_program.hpp"

namespace rondo::video {

extern kernel_program const pixel_kernels;

}  // namespace rondo::video
