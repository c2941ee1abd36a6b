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

/// A plane's samples as one formula, so that no loop over them has a branch: `above` + (value & `mask`).
struct pattern_samples {
  u32 bar_factor, bar_shift, bar_mask, bar_above;
  u32 ramp_shift, ramp_mask, ramp_above;
  u8 box;
};
RONDO_PIXELS pattern_samples samples_for(plane_kind plane, u32 shift) {
  pattern_samples s;
  s.bar_mask = plane == plane_y ? 255u : 127u;
  s.bar_above = plane == plane_y ? 0u : 64u;
  s.bar_factor = plane == plane_y ? 0u - 28u : plane == plane_u ? 73u : 41u;
  s.bar_shift = plane == plane_y ? 235u : plane == plane_u ? 0u : 20u;
  s.ramp_shift = shift;
  s.ramp_mask = plane == plane_y ? 127u : 0u;
  s.ramp_above = plane == plane_y ? 16u : 128u;
  s.box = static_cast<u8>(plane == plane_y ? 210u : plane == plane_u ? 90u : 200u);
  return s;
}

/// Row `y` of a plane.
RONDO_PIXELS void pattern_row(RONDO_BUFFER u8* to, plane_kind plane, pattern_shape s, i32 y, i32 first,
                              i32 step) {
  pattern_samples const of = samples_for(plane, s.shift);
  if (y < s.bars_end) {
    for (i32 x = first; x < s.width; x += step) {
      u32 const bar = static_cast<u32>(least(static_cast<i32>(static_cast<u32>(x) * s.scale >> 16), 7));
      to[x] = static_cast<u8>(of.bar_above + ((bar * of.bar_factor + of.bar_shift) & of.bar_mask));
    }
  } else {
    for (i32 x = first; x < s.width; x += step)
      to[x] = static_cast<u8>(of.ramp_above + ((static_cast<u32>(x) + of.ramp_shift) & of.ramp_mask));
  }
  if (y < s.box_y || y >= s.box_y + s.box_size) return;
  i32 const end = least(s.box_x + s.box_size, s.width);
  for (i32 x = first_from(s.box_x, first, step); x < end; x += step) to[x] = of.box;
}

}  // namespace pixels
}  // namespace rondo
