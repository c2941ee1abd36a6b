// Drawing shapes that do not depend on each other, on some blocks of a picture. A shape is a plain struct with
//   is_drawn(shape)
//   rows_of(shape)                     that it may cover
//   columns_of(shape, y)               what it may cover in the rows y and y + 1
//   paint(block, shape, how, x, y)     blends it into the block whose upper left pixel is (x, y)
// and may have, if it is often the same all over a block,
//   is_flat<Columns>(shape, how, x, y) whether it is so there
//   flat_ink(shape, how)               and in what
#pragma once

#include "kernels/pixels/overlay/bins.hpp"
#include "kernels/pixels/overlay/block.hpp"

namespace rondo {
namespace pixels {

/// Rows of tiles that a shape may touch.
template <class Shape>
RONDO_PIXELS tile_range tile_rows_of(Shape s, tile_grid g) {
  row_span const rows = rows_of(s);
  return tiles_within(rows.first, rows.last, g.rows);
}

template <i32 Columns, class Shape, class How>
RONDO_PIXELS bool is_flat(Shape, How, i32, i32) {
  return false;
}
template <class Shape, class How>
RONDO_PIXELS ink flat_ink(Shape, How) {
  ink const none = {0, 0, 0, 0};
  return none;
}

/// Draws on `Blocks` blocks side by side, of two rows each, from (x, y) on. `how`: what all of the shapes have in
/// common.
template <i32 Columns, i32 Blocks, class Planes, class Shape, class How>
RONDO_PIXELS void draw_shapes(Planes to, shape_list<Shape> list, How how, i32 x, i32 y) {
  typename block_of<Planes, Columns>::type drawn[Blocks];
  flat_block flat[Blocks];
  if (Blocks == 1) clear<Columns>(drawn[0]);
  for (i32 b = 0; b < Blocks; ++b) clear(flat[b]);
  u32 begun = 0;                       // blocks on which something was drawn
  u32 varied = Blocks == 1 ? 1u : 0u;  // of which pixels differ: they are in `drawn`
  for (i32 n = list.count; n-- > 0;) {
    Shape const s = list.shapes[number_of(list, n)];
    if (!is_drawn(s)) continue;
    block_range const over = blocks_within<Columns, Blocks>(columns_of(s, y), x);
    for (i32 b = over.first; b < over.last; ++b) {
      begun |= 1u << b;
      if ((varied >> b & 1) == 0) {
        if (is_flat<Columns>(s, how, x + b * Columns, y)) {
          blend(flat[b], flat_ink(s, how));
          continue;
        }
        spread<Columns>(drawn[b], flat[b]);
        varied |= 1u << b;
      }
      paint(drawn[b], s, how, x + b * Columns, y);
    }
  }
  for (i32 b = 0; b < Blocks; ++b) {
    if ((begun >> b & 1) == 0) continue;
    if ((varied >> b & 1) != 0)
      show<Columns>(drawn[b], to, x + b * Columns, y);
    else
      show<Columns>(flat[b], to, x + b * Columns, y);
  }
}

}  // namespace pixels
}  // namespace rondo
