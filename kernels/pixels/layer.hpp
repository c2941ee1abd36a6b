// Layers over a plane: rows of premultiplied values with their opacity, a mask in one colour, and a band between two
// heights.
#pragma once

#include "kernels/pixels/portable.hpp"

namespace rondo {
namespace pixels {

/// A row of a layer over a row of a plane of its own size. `opacity_step`: 1, or 2 if the plane has half as many
/// samples as the opacities.
RONDO_PIXELS void layer_row(RONDO_BUFFER u8* to, RONDO_BUFFER u8 const* layer, RONDO_BUFFER u8 const* opacity,
                            i32 opacity_step, i32 width, i32 first, i32 step) {
  if (opacity_step == 1)
    for (i32 x = first; x < width; x += step) to[x] = over(layer[x], opacity[x], to[x]);
  else
    for (i32 x = first; x < width; x += step) to[x] = over(layer[x], opacity[2 * x], to[x]);
}

/// One colour where a mask is: `mask` has an opacity for each sample of the row.
RONDO_PIXELS void mask_row(RONDO_BUFFER u8* to, RONDO_BUFFER u8 const* mask, i32 mask_step, u8 value,
                           i32 width, i32 first, i32 step) {
  for (i32 x = first; x < width; x += step) {
    u8 const opacity = mask[mask_step * x];
    to[x] = over(static_cast<u8>(over_255(static_cast<u16>(opacity * value))), opacity, to[x]);
  }
}

/// One colour in the columns where row `y` lies between `low[x]` and `high[x]`, else `outside`; both with an opacity.
RONDO_PIXELS void band_row(RONDO_BUFFER u8* to, RONDO_BUFFER u16 const* low, RONDO_BUFFER u16 const* high,
                           i32 column_step, u16 y, u8 inside, u8 inside_opacity, u8 outside,
                           u8 outside_opacity, i32 width, i32 first, i32 step) {
  u16 const in_value = over_255(static_cast<u16>(inside * inside_opacity));
  u16 const out_value = over_255(static_cast<u16>(outside * outside_opacity));
  for (i32 x = first; x < width; x += step) {
    bool const is_in = y >= low[column_step * x] && y <= high[column_step * x];
    u8 const value = static_cast<u8>(is_in ? in_value : out_value);
    to[x] = over(value, is_in ? inside_opacity : outside_opacity, to[x]);
  }
}

}  // namespace pixels
}  // namespace rondo
