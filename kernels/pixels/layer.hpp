// Layers over a plane: rows of premultiplied values with their opacity, a mask in one colour, and a band between two
// heights.
#pragma once

#include "kernels/pixels/portable.hpp"

namespace rondo {
namespace pixels {

/// The opacity of the sample of colour of four pixels, the first of which are `of` and below it, `stride` further: the
/// mean of theirs.
RONDO_PIXELS u8 mean_opacity(RONDO_BUFFER u8 const* of, i32 stride) {
  u16 const upper = static_cast<u16>(of[0] + of[1]), lower = static_cast<u16>(of[stride] + of[stride + 1]);
  return static_cast<u8>(static_cast<u16>(upper + lower + 2) >> 2);
}

/// A row of a layer over a row of a plane of its own size. `opacity_step`: 1, or 2 if the plane has half as many
/// samples as the opacities, in each direction; their rows are `stride` apart.
RONDO_PIXELS void layer_row(RONDO_BUFFER u8* to, RONDO_BUFFER u8 const* layer, RONDO_BUFFER u8 const* opacity,
                            i32 opacity_step, i32 stride, i32 width, i32 first, i32 step) {
  if (opacity_step == 1)
    for (i32 x = first; x < width; x += step) to[x] = over(layer[x], opacity[x], to[x]);
  else
    for (i32 x = first; x < width; x += step)
      to[x] = over(layer[x], mean_opacity(opacity + 2 * x, stride), to[x]);
}

/// One colour where a mask is, which has an opacity for each sample of the row.
RONDO_PIXELS void mask_row(RONDO_BUFFER u8* to, RONDO_BUFFER u8 const* mask, u8 value, i32 width, i32 first,
                           i32 step) {
  for (i32 x = first; x < width; x += step) {
    u8 const opacity = mask[x];
    to[x] = over(static_cast<u8>(over_255(static_cast<u16>(opacity * value))), opacity, to[x]);
  }
}

/// The colours of a band, with their opacities.
struct band_colours {
  u8 inside, inside_opacity;
  u8 outside, outside_opacity;
};

/// Of columns `ColumnStep` apart in the lists `low` and `high`.
template <int ColumnStep>
RONDO_PIXELS void band_columns(RONDO_BUFFER u8* to, RONDO_BUFFER u16 const* low, RONDO_BUFFER u16 const* high,
                               u16 y, band_colours c, i32 width, i32 first, i32 step) {
  u16 const in_value = over_255(static_cast<u16>(c.inside * c.inside_opacity));
  u16 const out_value = over_255(static_cast<u16>(c.outside * c.outside_opacity));
  for (i32 x = first; x < width; x += step) {
    u16 const below = low[ColumnStep * x], above = high[ColumnStep * x];
    // All ones or 0, so that nothing branches, and the loop is vectorised.
    u16 const is_in = static_cast<u16>(0 - ((y >= below) & (y <= above)));
    u16 const value = static_cast<u16>(out_value ^ ((in_value ^ out_value) & is_in));
    u16 const opacity =
        static_cast<u16>(c.outside_opacity ^ ((c.inside_opacity ^ c.outside_opacity) & is_in));
    to[x] = over(static_cast<u8>(value), static_cast<u8>(opacity), to[x]);
  }
}

/// One colour in the columns where row `y` lies between `low[x]` and `high[x]`, else the other one. `column_step`: 1,
/// or 2 if the plane has half as many samples as there are columns.
RONDO_PIXELS void band_row(RONDO_BUFFER u8* to, RONDO_BUFFER u16 const* low, RONDO_BUFFER u16 const* high,
                           i32 column_step, u16 y, band_colours c, i32 width, i32 first, i32 step) {
  if (column_step == 1) return band_columns<1>(to, low, high, y, c, width, first, step);
  band_columns<2>(to, low, high, y, c, width, first, step);
}

}  // namespace pixels
}  // namespace rondo
