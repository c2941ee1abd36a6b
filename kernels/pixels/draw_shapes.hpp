// Drawing shapes that do not depend on each other, on some blocks of a picture. A shape is a plain struct with
//   is_drawn(shape)
//   columns_of(shape, y)               what it may cover in the rows y and y + 1
//   paint(block, shape, how, x, y)     blends it into the block whose upper left pixel is (x, y)
#pragma once

#include "kernels/pixels/bins.hpp"
#include "kernels/pixels/block.hpp"

namespace rondo {
namespace pixels {

/// Draws on `Blocks` blocks side by side, of two rows each, from (x, y) on. `how`: what all of the shapes have in
/// common.
template <i32 Columns, i32 Blocks, class Shape, class How>
RONDO_PIXELS void draw_shapes(drawn_planes to, shape_list<Shape> list, How how, i32 x, i32 y) {
  block<Columns> drawn[Blocks];
  if (Blocks == 1) clear<Columns>(drawn[0]);
  u32 begun = 0;  // blocks on which something was drawn
  for (i32 n = list.count; n-- > 0;) {
    Shape const s = list.shapes[number_of(list, n)];
    if (!is_drawn(s)) continue;
    block_range const over = blocks_within<Columns, Blocks>(columns_of(s, y), x);
    for (i32 b = over.first; b < over.last; ++b) {
      if (Blocks != 1 && (begun >> b & 1) == 0) clear<Columns>(drawn[b]);
      begun |= 1u << b;
      paint(drawn[b], s, how, x + b * Columns, y);
    }
  }
  for (i32 b = 0; b < Blocks; ++b)
    if ((begun >> b & 1) != 0) show<Columns>(drawn[b], to, x + b * Columns, y);
}

}  // namespace pixels
}  // namespace rondo
