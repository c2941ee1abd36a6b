// The work on planes of pixels as portable kernels: a row of work is a row of a plane.
#pragma once

#include "kernels/pixels/background.hpp"
#include "kernels/pixels/blend.hpp"
#include "kernels/pixels/blur.hpp"
#include "kernels/pixels/boxes.hpp"
#include "kernels/pixels/dots.hpp"
#include "kernels/pixels/draw.hpp"
#include "kernels/pixels/layer.hpp"
#include "kernels/pixels/pattern.hpp"
#include "kernels/pixels/strokes.hpp"
#include "kernels/portable/kernel.hpp"

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

/// Of bytes of buffer 0, which become 0.
struct clear_work {
  i32 width;  // of a row
};
RONDO_PIXELS void clear(RONDO_BUFFER u8* to, RONDO_BUFFER u8*, RONDO_BUFFER u8*, RONDO_BUFFER u8*,
                        clear_work a, work_item at) {
  RONDO_BUFFER u8* const row = to + static_cast<u32>(at.row) * static_cast<u32>(a.width);
  for (i32 x = at.lane; x < a.width; x += at.lanes) row[x] = 0;
}
RONDO_KERNEL(clear, clear_work);

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
/// Of one that is blended with what is below it (blend.hpp), in a mode that is not the normal one, or from numbers of
/// sixteen bits: a row of work is a pair of rows. Both buffers begin where they overlap.
struct blend_work {
  plane_place y, u, v;
  plane_place from[4];  // y, u, v and opacities; or red, green, blue and opacities
  i32 has_opacities;
  i32 width, height;  // of what overlaps
  blending how;
};
RONDO_PIXELS drawn_planes planes_of(RONDO_BUFFER u8* buffer, plane_place y, plane_place u, plane_place v,
                                    blend_work a) {
  drawn_planes const p = {buffer + y.at, buffer + u.at, buffer + v.at, y.stride,
                          u.stride,      a.width,       a.height,      nullptr};
  return p;
}
RONDO_PIXELS void blend_layer(RONDO_BUFFER u8* to, RONDO_BUFFER u8* from, RONDO_BUFFER u8*, RONDO_BUFFER u8*,
                              blend_work a, work_item at) {
  drawn_planes above = planes_of(from, a.from[0], a.from[1], a.from[2], a);
  if (a.has_opacities != 0) above.opacities = from + a.from[3].at;
  blend_rows(planes_of(to, a.y, a.u, a.v, a), above, a.how, 2 * at.row, at.lane, at.lanes);
}
RONDO_KERNEL(blend_layer, blend_work);
RONDO_PIXELS void blend_half_layer(RONDO_BUFFER u8* to, RONDO_BUFFER u8* from, RONDO_BUFFER u8*,
                                   RONDO_BUFFER u8*, blend_work a, work_item at) {
  layer_planes const above = {reinterpret_cast<RONDO_BUFFER u16*>(from + a.from[0].at),
                              reinterpret_cast<RONDO_BUFFER u16*>(from + a.from[1].at),
                              reinterpret_cast<RONDO_BUFFER u16*>(from + a.from[2].at),
                              reinterpret_cast<RONDO_BUFFER u16*>(from + a.from[3].at),
                              a.from[0].stride,
                              a.width,
                              a.height};
  blend_rows(planes_of(to, a.y, a.u, a.v, a), above, a.how, 2 * at.row, at.lane, at.lanes);
}
RONDO_KERNEL(blend_half_layer, blend_work);
/// Of one without opacities.
RONDO_PIXELS void copy_layer(RONDO_BUFFER u8* to, RONDO_BUFFER u8* from, RONDO_BUFFER u8*, RONDO_BUFFER u8*,
                             layer_work a, work_item at) {
  RONDO_BUFFER u8* const target = row_of(to, a.to, at.row);
  RONDO_BUFFER u8 const* const source = row_of(from, a.from, at.row);
  for (i32 x = at.lane; x < a.width; x += at.lanes) target[x] = source[x];
}
RONDO_KERNEL(copy_layer, layer_work);

/// Of one colour in buffer 0, through a mask of dots in buffer 1, which are drawn `scale` rows high.
struct mask_work {
  plane_place to;  // where the rows that are drawn begin
  i32 mask_stride;
  i32 shrink;  // 1, or 2 if the plane has half as many samples as the mask is wide
  i32 scale;
  i32 width;
  u8 value;
};
RONDO_PIXELS void draw_mask(RONDO_BUFFER u8* to, RONDO_BUFFER u8* mask, RONDO_BUFFER u8*, RONDO_BUFFER u8*,
                            mask_work a, work_item at) {
  mask_row(row_of(to, a.to, at.row), mask + a.shrink * at.row / a.scale * a.mask_stride, a.shrink, a.value,
           a.width, at.lane, at.lanes);
}
RONDO_KERNEL(draw_mask, mask_work);

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

/// Of the shapes in buffer 1, a draw_list, on the picture in buffer 0: a row of work is one of blocks of 2x2 pixels.
struct shapes_work {
  plane_place y, u, v;
  i32 width, height;
};
RONDO_PIXELS void draw_shapes(RONDO_BUFFER u8* to, RONDO_BUFFER u8* list, RONDO_BUFFER u8*, RONDO_BUFFER u8*,
                              shapes_work a, work_item at) {
  drawn_planes const planes = {to + a.y.at, to + a.u.at, to + a.v.at, a.y.stride,
                               a.u.stride,  a.width,     a.height};
  draw_row(planes, reinterpret_cast<RONDO_BUFFER draw_list const*>(list), at.row, at.lane, at.lanes);
}
RONDO_KERNEL(draw_shapes, shapes_work);

/// Of shapes in tiles, on the picture in buffer 0: a row of work is a pair of rows of one of the tiles that a shape
/// touches. All tables are in buffer 1, so many bytes behind its beginning (bins.hpp).
struct tiles_work {
  plane_place planes[4];  // y, u, v and opacities; or red, green, blue and opacities of a layer
  i32 has_opacities;
  i32 width, height, tile_columns;
  u32 touched, begins, numbers, shapes;
  u32 first_unbinned;  // these and all later ones are in no bin
  i32 unbinned;        // how many that is
  u32 styles;          // of strokes
  i32 style_count;
  ink colour;  // of dots
};
RONDO_PIXELS drawn_planes picture_of(RONDO_BUFFER u8* to, tiles_work a) {
  drawn_planes const p = {to + a.planes[0].at,
                          to + a.planes[1].at,
                          to + a.planes[2].at,
                          a.planes[0].stride,
                          a.planes[1].stride,
                          a.width,
                          a.height,
                          a.has_opacities != 0 ? to + a.planes[3].at : nullptr};
  return p;
}
RONDO_PIXELS layer_planes layer_of(RONDO_BUFFER u8* to, tiles_work a) {
  layer_planes const p = {reinterpret_cast<RONDO_BUFFER u16*>(to + a.planes[0].at),
                          reinterpret_cast<RONDO_BUFFER u16*>(to + a.planes[1].at),
                          reinterpret_cast<RONDO_BUFFER u16*>(to + a.planes[2].at),
                          reinterpret_cast<RONDO_BUFFER u16*>(to + a.planes[3].at),
                          a.planes[0].stride,
                          a.width,
                          a.height};
  return p;
}
RONDO_PIXELS stroke_styles styles_of(RONDO_BUFFER u8* tables, tiles_work a) {
  stroke_styles const s = {reinterpret_cast<RONDO_BUFFER stroke_style const*>(tables + a.styles),
                           a.style_count};
  return s;
}
template <class Planes, class Shape, class How>
RONDO_PIXELS void draw_on_rows(Planes to, shape_list<Shape> list, How how, i32 x, i32 y, work_item at) {
  if (at.lanes == 1) return draw_shapes<16, 4>(to, list, how, x, y);
  for (i32 block = at.lane; block < tile_side / 2; block += at.lanes)
    if (x + 2 * block < to.width) draw_shapes<2, 1>(to, list, how, x + 2 * block, y);
}
template <class Shape, class Planes, class How>
RONDO_PIXELS void draw_on_tile(Planes to, RONDO_BUFFER u8* tables, How how, tiles_work a, work_item at) {
  i32 const pairs = tile_side / 2;
  i32 const tile =
      static_cast<i32>(reinterpret_cast<RONDO_BUFFER u32 const*>(tables + a.touched)[at.row / pairs]);
  i32 const x = tile % a.tile_columns * tile_side;
  i32 const y = tile / a.tile_columns * tile_side + at.row % pairs * 2;
  if (y >= a.height) return;
  RONDO_BUFFER u32 const* const begins = reinterpret_cast<RONDO_BUFFER u32 const*>(tables + a.begins);
  RONDO_BUFFER Shape const* const shapes = reinterpret_cast<RONDO_BUFFER Shape const*>(tables + a.shapes);
  shape_list<Shape> const binned = {
      reinterpret_cast<RONDO_BUFFER u32 const*>(tables + a.numbers) + begins[tile], shapes,
      static_cast<i32>(begins[tile + 1] - begins[tile])};
  if (binned.count != 0) draw_on_rows(to, binned, how, x, y, at);
  shape_list<Shape> const rest = {nullptr, shapes + a.first_unbinned, a.unbinned};
  if (rest.count != 0) draw_on_rows(to, rest, how, x, y, at);
}
/// NAME_kernel and layer_NAME_kernel.
#define RONDO_DRAW(name, Shape, how)                                                                       \
  RONDO_PIXELS void name(RONDO_BUFFER u8* to, RONDO_BUFFER u8* tables, RONDO_BUFFER u8*, RONDO_BUFFER u8*, \
                         tiles_work a, work_item at) {                                                     \
    draw_on_tile<Shape>(picture_of(to, a), tables, how, a, at);                                            \
  }                                                                                                        \
  RONDO_KERNEL(name, tiles_work);                                                                          \
  RONDO_PIXELS void layer_##name(RONDO_BUFFER u8* to, RONDO_BUFFER u8* tables, RONDO_BUFFER u8*,           \
                                 RONDO_BUFFER u8*, tiles_work a, work_item at) {                           \
    draw_on_tile<Shape>(layer_of(to, a), tables, how, a, at);                                              \
  }                                                                                                        \
  RONDO_KERNEL(layer_##name, tiles_work)
RONDO_DRAW(strokes, segment, styles_of(tables, a));
RONDO_DRAW(dots, dot_shape, a.colour);
RONDO_DRAW(boxes, box_shape, no_more{});
#undef RONDO_DRAW

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
