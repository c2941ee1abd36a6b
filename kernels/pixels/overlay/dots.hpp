// Drawing dots of light: discs whose coverage falls off towards their edge.
#pragma once

#include "kernels/pixels/overlay/draw_shapes.hpp"

namespace rondo {
namespace pixels {

struct dot_shape {
  f32 x, y;
  f32 radius;   // where nothing is left; not above 0: it is not drawn
  f32 opacity;  // at its middle, from 0 to 1
};

RONDO_PIXELS bool is_drawn(dot_shape d) { return d.radius > 0; }
RONDO_PIXELS row_span rows_of(dot_shape d) {
  row_span const r = {d.y - d.radius, d.y + d.radius};
  return r;
}
RONDO_PIXELS tile_range tile_columns_of(dot_shape d, tile_grid g, i32) {
  return tiles_within(d.x - d.radius, d.x + d.radius, g.columns);
}

/// Opacities of the pixels of a row: (1 - square of the distance, in radii) squared.
template <i32 Columns>
RONDO_PIXELS void cover_dot(RONDO_PRIVATE f32* RONDO_RESTRICT to, f32 right, f32 down, f32 radius,
                            f32 opacity) {
  f32 const scale = 1 / (radius * radius), below = down * down;
  for (i32 i = 0; i < Columns; ++i) {
    f32 const across = right + static_cast<f32>(i);
    f32 const left = greater(0, 1 - (across * across + below) * scale);
    to[i] = left * left * opacity;
  }
}

RONDO_PIXELS column_span columns_of(dot_shape d, i32 y) {
  column_span c = {d.x - d.radius, d.x + d.radius};
  if (without_sign(static_cast<f32>(y + 1) - d.y) > d.radius + 1) c.last = c.first;
  return c;
}
/// In one colour.
template <class Block>
RONDO_PIXELS void paint(RONDO_PRIVATE Block& b, dot_shape d, ink k, i32 x, i32 y) {
  constexpr i32 Columns = Block::columns;
  block_coverage<Columns> covered;
  for (i32 r = 0; r < 2; ++r)
    cover_dot<Columns>(covered.of[r], static_cast<f32>(x) + 0.5f - d.x, static_cast<f32>(y + r) + 0.5f - d.y,
                       d.radius, d.opacity);
  blend<Columns>(b, covered, k);
}

}  // namespace pixels
}  // namespace rondo
