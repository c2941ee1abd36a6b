// The kernels of kernels/pixels, compiled for players.
#pragma once

#include "runtime/player/opencl_player.hpp"

namespace rondo::video {

extern kernel_program const pixel_kernels;

}  // namespace rondo::video
