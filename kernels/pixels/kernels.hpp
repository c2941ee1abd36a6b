// The work on planes of pixels as portable kernels: a row of work is a row of a plane.
#pragma once

#include "kernels/pixels/background.hpp"
#include "kernels/pixels/blur.hpp"
#include "kernels/pixels/draw.hpp"
#include "kernels/pixels/layer.hpp"
#include "kernels/pixels/pattern.hpp"
#include "kernels/pixels/planes.hpp"
#include "kernels/portable/kernel.hpp"

namespace rondo {
namespace pixels {

/// Of a test pattern, into buffer 0.
struct pattern_work {
  plane_place to;
  i32 plane;  // a plane_kind
  pattern_shape shape;
};
RONDO_PIXELS void draw_pattern(RONDO_BUFFER u8* to, RONDO_BUFFER u8*, RONDO_BUFFER u8*, RONDO_BUFFER u8*,
                               pattern_work a, work_item at) {
  pattern_row(row_of(to, a.to, at.row), static_cast<plane_kind>(a.plane), a.shape, at.row, at.lane, at.lanes);
}
RONDO_KERNEL(draw_pattern, pattern_work);

/// Of one pass of a blur, from buffer 1 to buffer 0.
struct blur_work {
  plane_place to, from;
  i32 width, height;
  blur_weights weights;
};

/// Calls one of a macro's functions, which are for even radii: a weight beyond the blur's own radius is 0, and half as
/// much code is compiled where the program starts.
#define RONDO_WITH_RADIUS(radius, call) \
  switch (((radius) + 1) / 2) {         \
    case 1:                             \
      return call(2);                   \
    case 2:                             \
      return call(4);                   \
    case 3:                             \
      return call(6);                   \
    default:                            \
      return call(8);                   \
  }

RONDO_PIXELS void blur_rows_down(RONDO_BUFFER u8* to, RONDO_BUFFER u8* from, RONDO_BUFFER u8*,
                                 RONDO_BUFFER u8*, blur_work a, work_item at) {
#define RONDO_DOWN(radius)                                                                                \
  blur_down<radius>(row_of(to, a.to, at.row), from + a.from.at, a.from.stride, a.height, at.row, a.width, \
                    a.weights, at.lane, at.lanes)
  RONDO_WITH_RADIUS(a.weights.radius, RONDO_DOWN);
#undef RONDO_DOWN
}
RONDO_KERNEL(blur_rows_down, blur_work);

RONDO_PIXELS void blur_rows_across(RONDO_BUFFER u8* to, RONDO_BUFFER u8* from, RONDO_BUFFER u8*,
                                   RONDO_BUFFER u8*, blur_work a, work_item at) {
#define RONDO_ACROSS(radius)                                                                               \
  blur_across<radius>(row_of(to, a.to, at.row), row_of(from, a.from, at.row), a.width, a.weights, at.lane, \
                      at.lanes)
  RONDO_WITH_RADIUS(a.weights.radius, RONDO_ACROSS);
#undef RONDO_ACROSS
}
RONDO_KERNEL(blur_rows_across, blur_work);

#undef RONDO_WITH_RADIUS

/// Of a layer, from a picture with opacities in buffer 1, over the rows of buffer 0.
struct layer_work {
  plane_place to, from, opacities;  // where the rows that are drawn begin
  i32 shrink;                       // 1, or 2 if the plane has half as many samples as the opacities
  i32 width;
};
RONDO_PIXELS void draw_layer(RONDO_BUFFER u8* to, RONDO_BUFFER u8* from, RONDO_BUFFER u8*, RONDO_BUFFER u8*,
                             layer_work a, work_item at) {
  layer_row(row_of(to, a.to, at.row), row_of(from, a.from, at.row),
            row_of(from, a.opacities, a.shrink * at.row), a.shrink, a.opacities.stride, a.width, at.lane,
            at.lanes);
}
RONDO_KERNEL(draw_layer, layer_work);
/// Of one without opacities.
RONDO_PIXELS void copy_layer(RONDO_BUFFER u8* to, RONDO_BUFFER u8* from, RONDO_BUFFER u8*, RONDO_BUFFER u8*,
                             layer_work a, work_item at) {
  RONDO_BUFFER u8* const target = row_of(to, a.to, at.row);
  RONDO_BUFFER u8 const* const source = row_of(from, a.from, at.row);
  for (i32 x = at.lane; x < a.width; x += at.lanes) target[x] = source[x];
}
RONDO_KERNEL(copy_layer, layer_work);

/// Of a band in buffer 0, between the heights that buffer 1 has for each column: all lower ones, then the upper ones.
struct band_work {
  plane_place to;  // where the band begins
  i32 shrink;      // 1, or 2 if the plane has half as many samples as there are columns
  i32 columns;
  i32 width;  // of the plane
  band_colours colours;
};
RONDO_PIXELS void draw_band(RONDO_BUFFER u8* to, RONDO_BUFFER u8* heights, RONDO_BUFFER u8*, RONDO_BUFFER u8*,
                            band_work a, work_item at) {
  RONDO_BUFFER u16 const* const low = reinterpret_cast<RONDO_BUFFER u16 const*>(heights);
  band_row(row_of(to, a.to, at.row), low, low + a.columns, a.shrink, static_cast<u16>(a.shrink * at.row),
           a.colours, a.width, at.lane, at.lanes);
}
RONDO_KERNEL(draw_band, band_work);

/// Of the shapes in buffer 1, a draw_list, on the picture in buffer 0, with the letter_book in buffer 2: a row of work
/// is one of blocks of 2x2 pixels.
struct shapes_work {
  plane_place y, u, v;
  i32 width, height;
};
RONDO_PIXELS void draw_shapes(RONDO_BUFFER u8* to, RONDO_BUFFER u8* list, RONDO_BUFFER u8* letters,
                              RONDO_BUFFER u8*, shapes_work a, work_item at) {
  drawn_planes const planes = {to + a.y.at, to + a.u.at, to + a.v.at, a.y.stride,
                               a.u.stride,  a.width,     a.height};
  draw_row(planes, reinterpret_cast<RONDO_BUFFER draw_list const*>(list),
           reinterpret_cast<RONDO_BUFFER letter_book const*>(letters), at.row, at.lane, at.lanes);
}
RONDO_KERNEL(draw_shapes, shapes_work);

/// Of a background model in buffer 0, and the picture in buffer 1. The model's planes follow each other.
struct background_work {
  plane_place y, u, v, mask;
  u32 model, plane_bytes;
  i32 stride;  // of the model, in samples
  i32 width;
  background_limits limits;
};
RONDO_PIXELS background_rows rows_of(RONDO_BUFFER u8* scene, RONDO_BUFFER u8* picture, background_work a,
                                     i32 row) {
  RONDO_BUFFER i16* plane[9];
  for (u32 p = 0; p < 9; ++p)
    plane[p] = reinterpret_cast<RONDO_BUFFER i16*>(scene + a.model + p * a.plane_bytes) + row * a.stride;
  background_rows const r = {row_of(picture, a.y, 2 * row),
                             row_of(picture, a.y, 2 * row + 1),
                             row_of(picture, a.u, row),
                             row_of(picture, a.v, row),
                             plane[0],
                             plane[1],
                             plane[2],
                             plane[3],
                             plane[4],
                             plane[5],
                             plane[6],
                             plane[7],
                             plane[8],
                             row_of(scene, a.mask, row),
                             a.width};
  return r;
}
RONDO_PIXELS void learn_background(RONDO_BUFFER u8* scene, RONDO_BUFFER u8* picture, RONDO_BUFFER u8*,
                                   RONDO_BUFFER u8*, background_work a, work_item at) {
  learn_row(rows_of(scene, picture, a, at.row), at.lane, at.lanes);
}
RONDO_KERNEL(learn_background, background_work);
RONDO_PIXELS void subtract_background(RONDO_BUFFER u8* scene, RONDO_BUFFER u8* picture, RONDO_BUFFER u8*,
                                      RONDO_BUFFER u8*, background_work a, work_item at) {
  subtract_row(rows_of(scene, picture, a, at.row), a.limits, at.lane, at.lanes);
}
RONDO_KERNEL(subtract_background, background_work);

}  // namespace pixels
}  // namespace rondo
