// A test pattern: eight bars, below them a ramp that moves with each frame, and a box that goes to and fro.
#pragma once

#include "kernels/pixels/portable.hpp"

namespace rondo {
namespace pixels {

/// Where the parts of the pattern are in a plane.
struct pattern_shape {
  i32 width, height;  // of the plane, in its own samples
  i32 bars_end;       // the first row below the bars
  i32 box_x, box_y, box_size;
  u32 scale;  // bars per sample, times 65536
  u32 shift;  // of the ramp
};

/// For a picture of this size, and a plane with a sample for `shrink` (1 or 2) pixels in each direction.
RONDO_PIXELS pattern_shape pattern_for(i32 width, i32 height, i32 shrink, u32 number) {
  pattern_shape s;
  s.width = width / shrink;
  s.height = height / shrink;
  s.bars_end = s.height * 2 / 3;
  s.box_size = height / 12 * 2 / shrink;
  i32 const way = most(width - height / 12 * 2, 1);
  i32 const at =
      static_cast<i32>(number * static_cast<u32>(most(width / 128, 1)) % static_cast<u32>(2 * way));
  s.box_x = (at < way ? at : 2 * way - at) / shrink;
  s.box_y = height / 4 / shrink;
  s.scale = 8u * 65536u / static_cast<u32>(most(s.width, 1));
  s.shift = number * 2u;
  return s;
}

RONDO_PIXELS u8 pattern_bar(plane_kind plane, u32 bar) {
  if (plane == plane_y) return static_cast<u8>(235u - bar * 28u);
  return static_cast<u8>(plane == plane_u ? 64u + ((bar * 73u) & 127u) : 64u + ((bar * 41u + 20u) & 127u));
}

/// Row `y` of a plane.
RONDO_PIXELS void pattern_row(RONDO_BUFFER u8* to, plane_kind plane, pattern_shape s, i32 y, i32 first,
                              i32 step) {
  if (y < s.bars_end) {
    for (i32 x = first; x < s.width; x += step)
      to[x] = pattern_bar(plane, least(static_cast<i32>(static_cast<u32>(x) * s.scale >> 16), 7));
  } else {
    u32 const base = plane == plane_y ? s.shift : 128u;
    for (i32 x = first; x < s.width; x += step)
      to[x] = static_cast<u8>(plane == plane_y ? 16u + ((static_cast<u32>(x) + base) & 127u) : base);
  }
  if (y < s.box_y || y >= s.box_y + s.box_size) return;
  i32 const begin = s.box_x + (first - s.box_x % step + step) % step;
  for (i32 x = begin; x < s.box_x + s.box_size && x < s.width; x += step)
    to[x] = static_cast<u8>(plane == plane_y ? 210u : plane == plane_u ? 90u : 200u);
}

}  // namespace pixels
}  // namespace rondo
