// Drawing letters: pictures of opacities in an atlas, at whole pixels.
#pragma once

#include "kernels/pixels/bins.hpp"
#include "kernels/pixels/block.hpp"

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
RONDO_PIXELS tile_range tile_rows_of(glyph_shape g, tile_grid t) {
  return tiles_within(static_cast<f32>(g.y), static_cast<f32>(g.y + g.height), t.rows);
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

/// Draws letters in one colour on `Blocks` blocks side by side, of two rows each, from (x, y) on.
template <i32 Columns, i32 Blocks>
RONDO_PIXELS void draw_glyphs(drawn_planes to, shape_list<glyph_shape> list, RONDO_BUFFER u8 const* atlas,
                              ink k, i32 x, i32 y) {
  block<Columns> drawn[Blocks];
  block_coverage<Columns> covered;
  if (Blocks == 1) clear<Columns>(drawn[0]);
  u32 begun = 0;
  for (i32 n = list.count; n-- > 0;) {
    glyph_shape const g = list.shapes[number_of(list, n)];
    if (!is_drawn(g) || y + 2 <= g.y || y >= g.y + g.height) continue;
    block_range const over =
        blocks_within<Columns, Blocks>(static_cast<f32>(g.x), static_cast<f32>(g.x + g.width), x);
    for (i32 b = over.first; b < over.last; ++b) {
      // Within the margins, because the block touches the letter.
      i32 const column = x + b * Columns - g.x + glyph_margin;
      for (i32 r = 0; r < 2; ++r) {
        i32 const row = y + r - g.y;
        if (row >= 0 && row < g.height)
          cover_glyph<Columns>(covered.of[r], atlas + g.at + row * (g.width + 2 * glyph_margin) + column);
        else
          for (i32 i = 0; i < Columns; ++i) covered.of[r][i] = 0;
      }
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
