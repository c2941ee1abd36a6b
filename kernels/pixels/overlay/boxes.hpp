// Drawing boxes with rounded corners, filled and with a stroke along their edge, both in one pass. A pixel's coverage
// is exact at straight edges, and follows from the distance to the arc at rounded corners.
#pragma once

#include "kernels/pixels/overlay/draw_shapes.hpp"

namespace rondo {
namespace pixels {

struct box_shape {
  f32 x, y;                     // its middle
  f32 half_width, half_height;  // from there to the edge; below 0: it is not drawn
  f32 radius;                   // of its corners, at most half its shorter side
  f32 half_stroke;              // of the stroke, whose middle is the edge
  ink fill, stroke;
};

RONDO_PIXELS bool is_drawn(box_shape b) { return b.half_width >= 0 && b.half_height >= 0; }
RONDO_PIXELS row_span rows_of(box_shape b) {
  f32 const reaches = b.half_height + b.half_stroke + 0.51f;
  row_span const r = {b.y - reaches, b.y + reaches};
  return r;
}
RONDO_PIXELS tile_range tile_columns_of(box_shape b, tile_grid g, i32) {
  f32 const reaches = b.half_width + b.half_stroke + 0.51f;
  return tiles_within(b.x - reaches, b.x + reaches, g.columns);
}

/// What a rounded box covers of the pixels of a row, from the one whose centre is `right` of the box's middle, and
/// `down` below it.
template <i32 Columns>
RONDO_PIXELS void cover_box(RONDO_PRIVATE f32* RONDO_RESTRICT to, f32 right, f32 down, f32 half_width,
                            f32 half_height, f32 radius) {
  f32 const below = without_sign(down);
  f32 const most_x = lesser(1, 2 * half_width), most_y = lesser(1, 2 * half_height);
  f32 const cover_y = greater(0, lesser(most_y, half_height + 0.5f - below));
  f32 const corner_y = below - (half_height - radius), arc = radius + 0.5f;
  // Above and below the corners, no pixel is in one.
  f32 const straight = radius > 0 && corner_y > 0 ? half_width - radius : half_width + 4;
  f32 const square_y = corner_y * corner_y;
  for (i32 i = 0; i < Columns; ++i) {
    f32 const across = without_sign(right + static_cast<f32>(i));
    f32 const corner_x = across - (half_width - radius);
    f32 const at_edge = greater(0, lesser(most_x, half_width + 0.5f - across)) * cover_y;
    f32 const at_corner = greater(0, lesser(1, arc - root(corner_x * corner_x + square_y)));
    to[i] = across > straight ? at_corner : at_edge;
  }
}

/// Of the stroke: what is within its outer edge, without what is within its inner one.
template <i32 Columns>
RONDO_PIXELS void cover_box_stroke(RONDO_PRIVATE f32* RONDO_RESTRICT to, f32 right, f32 down, box_shape b) {
  f32 inner[Columns];
  f32 const h = b.half_stroke;
  cover_box<Columns>(to, right, down, b.half_width + h, b.half_height + h, b.radius > 0 ? b.radius + h : 0);
  if (b.half_width <= h || b.half_height <= h) return;
  cover_box<Columns>(inner, right, down, b.half_width - h, b.half_height - h, greater(b.radius - h, 0));
  for (i32 i = 0; i < Columns; ++i) to[i] -= inner[i];
}

RONDO_PIXELS column_span columns_of(box_shape s, i32 y) {
  f32 const outside = s.half_stroke + 0.51f, across = s.half_width + outside;
  column_span c = {s.x - across, s.x + across};
  if (without_sign(static_cast<f32>(y + 1) - s.y) > s.half_height + outside + 1) c.last = c.first;
  return c;
}
/// What boxes have in common: nothing.
struct no_more {};
/// Whether the whole block at (x, y) is filled, and nothing else.
template <i32 Columns>
RONDO_PIXELS bool is_flat(box_shape s, no_more, i32 x, i32 y) {
  f32 const right = static_cast<f32>(x) + 0.5f - s.x, down = static_cast<f32>(y) + 0.5f - s.y;
  f32 const across = greater(without_sign(right), without_sign(right + static_cast<f32>(Columns - 1)));
  f32 const below = greater(without_sign(down), without_sign(down + 1)), edge = s.half_stroke + 0.5f;
  return across <= s.half_width - edge && below <= s.half_height - edge &&
         (across <= s.half_width - s.radius || below <= s.half_height - s.radius);
}
RONDO_PIXELS ink flat_ink(box_shape s, no_more) { return s.fill; }
template <class Block>
RONDO_PIXELS void paint(RONDO_PRIVATE Block& b, box_shape s, no_more, i32 x, i32 y) {
  constexpr i32 Columns = Block::columns;
  block_coverage<Columns> covered;
  f32 const right = static_cast<f32>(x) + 0.5f - s.x, down = static_cast<f32>(y) + 0.5f - s.y;
  if (s.half_stroke > 0) {
    for (i32 r = 0; r < 2; ++r)
      cover_box_stroke<Columns>(covered.of[r], right, down + static_cast<f32>(r), s);
    blend<Columns>(b, covered, s.stroke);
  }
  if (s.fill.opacity <= 0) return;
  for (i32 r = 0; r < 2; ++r)
    cover_box<Columns>(covered.of[r], right, down + static_cast<f32>(r), s.half_width, s.half_height,
                       s.radius);
  blend<Columns>(b, covered, s.fill);
}

}  // namespace pixels
}  // namespace rondo
