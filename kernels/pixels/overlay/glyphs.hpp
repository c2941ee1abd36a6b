// Drawing letters: pictures of opacities in an atlas, at whole pixels.
#pragma once

#include "kernels/pixels/overlay/draw_shapes.hpp"

namespace rondo {
namespace pixels {

/// Around each letter's picture in the atlas: columns without opacity, so that a block can read beyond it.
enum { glyph_margin = 16 };

struct glyph_shape {
  i32 x, y;           // of its upper left pixel
  i32 width, height;  // 0: it is not drawn
  u32 at;             // in the atlas, of its first row's margin; rows have the width and two margins
};

RONDO_PIXELS bool is_drawn(glyph_shape g) { return g.width > 0 && g.height > 0; }
RONDO_PIXELS row_span rows_of(glyph_shape g) {
  row_span const r = {static_cast<f32>(g.y), static_cast<f32>(g.y + g.height)};
  return r;
}
RONDO_PIXELS tile_range tile_columns_of(glyph_shape g, tile_grid t, i32) {
  return tiles_within(static_cast<f32>(g.x), static_cast<f32>(g.x + g.width), t.columns);
}

/// A row of opacities, from 0 to 255.
template <i32 Columns>
RONDO_PIXELS void cover_glyph(RONDO_PRIVATE f32* RONDO_RESTRICT to,
                              RONDO_BUFFER u8 const* RONDO_RESTRICT from) {
  for (i32 i = 0; i < Columns; ++i) to[i] = static_cast<f32>(from[i]) * (1.0f / 255);
}

RONDO_PIXELS column_span columns_of(glyph_shape g, i32 y) {
  column_span c = {static_cast<f32>(g.x), static_cast<f32>(g.x + g.width)};
  if (y + 2 <= g.y || y >= g.y + g.height) c.last = c.first;
  return c;
}
/// What letters have in common.
struct lettering {
  RONDO_BUFFER u8 const* atlas;
  ink colour;
};
template <class Block>
RONDO_PIXELS void paint(RONDO_PRIVATE Block& b, glyph_shape g, lettering how, i32 x, i32 y) {
  constexpr i32 Columns = Block::columns;
  block_coverage<Columns> covered;
  i32 const column = x - g.x + glyph_margin;  // within the margins, because the block touches the letter
  for (i32 r = 0; r < 2; ++r) {
    i32 const row = y + r - g.y;
    if (row >= 0 && row < g.height)
      cover_glyph<Columns>(covered.of[r], how.atlas + g.at + row * (g.width + 2 * glyph_margin) + column);
    else
      for (i32 i = 0; i < Columns; ++i) covered.of[r][i] = 0;
  }
  blend<Columns>(b, covered, how.colour);
}

}  // namespace pixels
}  // namespace rondo
