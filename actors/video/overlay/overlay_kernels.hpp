// The kernels of kernels/pixels/overlay, compiled for players.
#pragma once

#include "runtime/player/kernel_program.hpp"

namespace rondo::video {

extern kernel_program const overlay_kernels;

}  // namespace rondo::video
