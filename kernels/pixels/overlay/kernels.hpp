// Drawing over pictures, and blending with them, as portable kernels.
#pragma once

#include "kernels/pixels/overlay/blend.hpp"
#include "kernels/pixels/overlay/boxes.hpp"
#include "kernels/pixels/overlay/dots.hpp"
#include "kernels/pixels/overlay/strokes.hpp"
#include "kernels/pixels/planes.hpp"
#include "kernels/portable/kernel.hpp"

namespace rondo {
namespace pixels {

/// A picture in a buffer. `opacities` is not looked at if it has none.
RONDO_PIXELS drawn_planes picture_in(RONDO_BUFFER u8* buffer, plane_place y, plane_place u, plane_place v,
                                     plane_place opacities, i32 has_opacities, i32 width, i32 height) {
  drawn_planes const p = {
      buffer + y.at, buffer + u.at, buffer + v.at, y.stride,
      u.stride,      width,         height,        has_opacities != 0 ? buffer + opacities.at : nullptr};
  return p;
}
/// Where the marks of a layer are in its buffer; see tile_marks.
struct marks_place {
  u32 at;
  i32 columns, left, top;
};
/// A layer in a buffer.
RONDO_PIXELS layer_planes layer_in(RONDO_BUFFER u8* buffer, plane_place red, plane_place green,
                                   plane_place blue, plane_place opacities, i32 width, i32 height,
                                   marks_place marks) {
  layer_planes const p = {reinterpret_cast<RONDO_BUFFER u16*>(buffer + red.at),
                          reinterpret_cast<RONDO_BUFFER u16*>(buffer + green.at),
                          reinterpret_cast<RONDO_BUFFER u16*>(buffer + blue.at),
                          reinterpret_cast<RONDO_BUFFER u16*>(buffer + opacities.at),
                          red.stride,
                          width,
                          height,
                          {buffer + marks.at, marks.columns, marks.left, marks.top}};
  return p;
}

/// Of bytes of buffer 0, which become 0.
struct clear_work {
  u32 at;     // the first one
  i32 width;  // of a row
};
RONDO_PIXELS void clear(RONDO_BUFFER u8* to, RONDO_BUFFER u8*, RONDO_BUFFER u8*, RONDO_BUFFER u8*,
                        clear_work a, work_item at) {
  RONDO_BUFFER u8* const row = to + a.at + static_cast<u32>(at.row) * static_cast<u32>(a.width);
  for (i32 x = at.lane; x < a.width; x += at.lanes) row[x] = 0;
}
RONDO_KERNEL(clear, clear_work);

/// Of a layer in buffer 1 over the picture in buffer 0, blended with it (blend.hpp): a row of work is a pair of rows.
/// All planes begin where the two overlap.
struct blend_work {
  plane_place y, u, v;
  plane_place from[4];  // y, u, v and opacities; or red, green, blue and opacities
  i32 has_opacities;
  i32 width, height;  // of what overlaps
  blending how;
  marks_place marks;  // of a layer of floats
};
RONDO_PIXELS drawn_planes below(RONDO_BUFFER u8* to, blend_work a) {
  return picture_in(to, a.y, a.u, a.v, a.y, 0, a.width, a.height);
}
RONDO_PIXELS void blend_layer(RONDO_BUFFER u8* to, RONDO_BUFFER u8* from, RONDO_BUFFER u8*, RONDO_BUFFER u8*,
                              blend_work a, work_item at) {
  drawn_planes const above =
      picture_in(from, a.from[0], a.from[1], a.from[2], a.from[3], a.has_opacities, a.width, a.height);
  blend_rows(below(to, a), above, a.how, 2 * at.row, at.lane, at.lanes);
}
RONDO_KERNEL(blend_layer, blend_work);
RONDO_PIXELS void blend_half_layer(RONDO_BUFFER u8* to, RONDO_BUFFER u8* from, RONDO_BUFFER u8*,
                                   RONDO_BUFFER u8*, blend_work a, work_item at) {
  layer_planes const above =
      layer_in(from, a.from[0], a.from[1], a.from[2], a.from[3], a.width, a.height, a.marks);
  blend_rows(below(to, a), above, a.how, 2 * at.row, at.lane, at.lanes);
}
RONDO_KERNEL(blend_half_layer, blend_work);
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
  u32 marks;   // of a layer, in buffer 0
};
RONDO_PIXELS drawn_planes picture_of(RONDO_BUFFER u8* to, tiles_work a) {
  return picture_in(to, a.planes[0], a.planes[1], a.planes[2], a.planes[3], a.has_opacities, a.width,
                    a.height);
}
RONDO_PIXELS layer_planes layer_of(RONDO_BUFFER u8* to, tiles_work a) {
  marks_place const marks = {a.marks, a.tile_columns, 0, 0};
  return layer_in(to, a.planes[0], a.planes[1], a.planes[2], a.planes[3], a.width, a.height, marks);
}
RONDO_PIXELS stroke_styles styles_of(RONDO_BUFFER u8* tables, tiles_work a) {
  stroke_styles const s = {reinterpret_cast<RONDO_BUFFER stroke_style const*>(tables + a.styles),
                           a.style_count};
  return s;
}
template <class Planes, class Shape, class How>
RONDO_PIXELS void draw_on_rows(Planes to, shape_list<Shape> list, How how, i32 x, i32 y, work_item at) {
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
  if (lacks_samples(to, x, y))
    for (i32 block = at.lane; block < tile_side / 2; block += at.lanes)
      if (x + 2 * block < to.width) empty_block(to, x + 2 * block, y);
  RONDO_BUFFER u32 const* const begins = reinterpret_cast<RONDO_BUFFER u32 const*>(tables + a.begins);
  RONDO_BUFFER Shape const* const shapes = reinterpret_cast<RONDO_BUFFER Shape const*>(tables + a.shapes);
  shape_list<Shape> const binned = {
      reinterpret_cast<RONDO_BUFFER u32 const*>(tables + a.numbers) + begins[tile], shapes,
      static_cast<i32>(begins[tile + 1] - begins[tile])};
  if (binned.count != 0) draw_on_rows(to, binned, how, x, y, at);
  shape_list<Shape> const rest = {nullptr, shapes + a.first_unbinned, a.unbinned};
  if (rest.count != 0) draw_on_rows(to, rest, how, x, y, at);
}
/// Behind drawing on a layer: marks the tiles that a shape touches, one for each row of work.
RONDO_PIXELS void mark_tiles(RONDO_BUFFER u8* to, RONDO_BUFFER u8* tables, RONDO_BUFFER u8*, RONDO_BUFFER u8*,
                             tiles_work a, work_item at) {
  if (at.lane == 0) to[a.marks + reinterpret_cast<RONDO_BUFFER u32 const*>(tables + a.touched)[at.row]] = 1;
}
RONDO_KERNEL(mark_tiles, tiles_work);
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

}  // namespace pixels
}  // namespace rondo
