// Where the planes of a picture are, for kernels.
#pragma once

#include "kernels/pixels/portable.hpp"

namespace rondo {
namespace pixels {

/// Where a plane is in its buffer: its first byte, and the bytes from row to row.
struct plane_place {
  u32 at;
  i32 stride;
};

/// Row y of a plane.
RONDO_PIXELS RONDO_BUFFER u8* row_of(RONDO_BUFFER u8* buffer, plane_place p, i32 y) {
  return buffer + p.at + y * p.stride;
}

}  // namespace pixels
}  // namespace rondo
