// Drawing dots of light: discs whose coverage falls off towards their edge.
#pragma once

#include "kernels/pixels/bins.hpp"
#include "kernels/pixels/block.hpp"

namespace rondo {
namespace pixels {

struct dot_shape {
  f32 x, y;
  f32 radius;   // where nothing is left; not above 0: it is not drawn
  f32 opacity;  // at its middle, from 0 to 1
};

RONDO_PIXELS bool is_drawn(dot_shape d) { return d.radius > 0; }
RONDO_PIXELS tile_range tile_rows_of(dot_shape d, tile_grid g) {
  return tiles_within(d.y - d.radius, d.y + d.radius, g.rows);
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

/// Draws dots in one colour on `Blocks` blocks side by side, of two rows each, from (x, y) on.
template <i32 Columns, i32 Blocks>
RONDO_PIXELS void draw_dots(drawn_planes to, shape_list<dot_shape> list, ink k, i32 x, i32 y) {
  block<Columns> drawn[Blocks];
  block_coverage<Columns> covered;
  if (Blocks == 1) clear<Columns>(drawn[0]);
  u32 begun = 0;
  for (i32 n = list.count; n-- > 0;) {
    dot_shape const d = list.shapes[number_of(list, n)];
    f32 const down = static_cast<f32>(y) + 0.5f - d.y;
    if (!is_drawn(d) || without_sign(down + 0.5f) > d.radius + 0.5f) continue;
    block_range const over = blocks_within<Columns, Blocks>(d.x - d.radius, d.x + d.radius, x);
    for (i32 b = over.first; b < over.last; ++b) {
      f32 const right = static_cast<f32>(x + b * Columns) + 0.5f - d.x;
      for (i32 r = 0; r < 2; ++r)
        cover_dot<Columns>(covered.of[r], right, down + static_cast<f32>(r), d.radius, d.opacity);
      if (Blocks != 1 && (begun >> b & 1) == 0) clear<Columns>(drawn[b]);
      begun |= 1u << b;
      blend<Columns>(drawn[b], covered, k);
    }
  }
  for (i32 b = 0; b < Blocks; ++b)
    if ((begun >> b & 1) != 0) show<Columns>(drawn[b], to, x + b * Columns, y);
}

}  // namespace pixels
}  // namespace rondo
