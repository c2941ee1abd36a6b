// Drawing strokes: lines of any width, curves as chains of short lines, dots as lines without length. A pixel's
// coverage follows from its distance to the line (a capsule's signed distance); what the segments of one stroke cover
// together is blended once, so that a translucent curve has no darker joints.
#pragma once

#include "kernels/pixels/overlay/draw_shapes.hpp"

namespace rondo {
namespace pixels {

/// How the ends of a stroke's segments are: round; or cut off, at the end or half a width behind it.
enum line_end { end_round, end_butt, end_square };

/// How a stroke is drawn.
struct stroke_style {
  ink colour;
  f32 half_width;
  f32 softness;   // pixels from all to nothing, at least 1, which is anti-aliasing
  i32 end;        // a line_end
  i32 falls_off;  // 1: coverage is squared, as of light
};

/// How far from its middle line, and beyond its ends, a stroke reaches, with a little more for rounding. Ends that are
/// cut off have corners.
RONDO_PIXELS f32 reach_of(stroke_style s) {
  f32 const reach = s.half_width + s.softness * 0.5f + 0.01f;
  return s.end == end_round ? reach : reach * 1.4143f;
}

/// A straight part of a stroke, by its middle: what drawing needs, so that it is computed once.
struct segment {
  f32 x, y;              // the middle
  f32 along_x, along_y;  // its direction, of length 1
  f32 half_length;
  f32 slope;   // how far its middle line goes to the right for a pixel down; 0 if it is level, too
  f32 reach;   // of its stroke
  i32 stroke;  // whose part it is: a number of styles; -1: it is not drawn
};

RONDO_PIXELS segment segment_between(f32 x0, f32 y0, f32 x1, f32 y1, f32 reach, i32 stroke) {
  f32 const dx = x1 - x0, dy = y1 - y0, length = root(dx * dx + dy * dy);
  segment s;
  s.x = (x0 + x1) * 0.5f;
  s.y = (y0 + y1) * 0.5f;
  s.along_x = length > 0 ? dx / length : 1;
  s.along_y = length > 0 ? dy / length : 0;
  s.half_length = length * 0.5f;
  s.slope = without_sign(s.along_y) > 1e-3f ? s.along_x / s.along_y : 0;
  s.reach = reach;
  s.stroke = stroke;
  return s;
}
RONDO_PIXELS bool is_drawn(segment s) { return s.stroke >= 0; }

/// What covering a row depends on, but for the column: distances are those of its first pixel.
struct row_of_segment {
  f32 across, along;  // to the middle line, and along it from the middle
  f32 along_x, along_y;
  f32 half_length;
  f32 edge, sharp, most;  // coverage at the middle line, how much it falls for a pixel, and the most there is
};
/// With round ends.
template <i32 Columns>
RONDO_PIXELS void cover_round(RONDO_PRIVATE f32* RONDO_RESTRICT to, row_of_segment s) {
  for (i32 i = 0; i < Columns; ++i) {
    f32 const d = s.across - s.along_y * static_cast<f32>(i);
    f32 const beyond = greater(without_sign(s.along + s.along_x * static_cast<f32>(i)) - s.half_length, 0);
    to[i] = greater(to[i], lesser(s.most, s.edge - root(d * d + beyond * beyond) * s.sharp));
  }
}
/// With ends that are cut off.
template <i32 Columns>
RONDO_PIXELS void cover_cut(RONDO_PRIVATE f32* RONDO_RESTRICT to, row_of_segment s) {
  for (i32 i = 0; i < Columns; ++i) {
    f32 const d = s.across - s.along_y * static_cast<f32>(i);
    f32 const beyond = without_sign(s.along + s.along_x * static_cast<f32>(i)) - s.half_length;
    f32 const within_ends = greater(0, lesser(1, 0.5f - beyond * s.sharp));
    to[i] = greater(to[i], lesser(s.most, s.edge - without_sign(d) * s.sharp) * within_ends);
  }
}
/// How much of the pixels from (x, y) on a segment covers, if it is more than what is there.
template <i32 Columns>
RONDO_PIXELS void cover(RONDO_PRIVATE block_coverage<Columns>& c, segment s, stroke_style how, f32 x, f32 y) {
  row_of_segment a;
  a.sharp = 1 / how.softness;
  a.most = lesser(1, 2 * how.half_width * a.sharp);
  a.edge = how.half_width * a.sharp + 0.5f;
  a.half_length = s.half_length + (how.end == end_square ? how.half_width : 0);
  a.along_x = s.along_x;
  a.along_y = s.along_y;
  f32 const right = x + 0.5f - s.x;
  for (i32 r = 0; r < 2; ++r) {
    f32 const down = y + static_cast<f32>(r) + 0.5f - s.y;
    a.across = s.along_x * down - s.along_y * right;
    a.along = s.along_x * right + s.along_y * down;
    if (how.end == end_round)
      cover_round<Columns>(c.of[r], a);
    else
      cover_cut<Columns>(c.of[r], a);
  }
}
/// Coverage as of light, which falls off with the square of the distance.
template <i32 Columns>
RONDO_PIXELS void square(RONDO_PRIVATE f32* c) {
  for (i32 i = 0; i < Columns; ++i) c[i] *= c[i];
}

/// Columns that a segment may cover in `rows` rows from y on.
RONDO_PIXELS column_span columns_of(segment s, f32 y, f32 rows) {
  f32 const half_x = without_sign(s.along_x) * s.half_length + s.reach,
            half_y = without_sign(s.along_y) * s.half_length + s.reach;
  f32 const down = y + rows * 0.5f - s.y;  // from its middle to that of the rows
  column_span c = {s.x - half_x, s.x + half_x};
  if (without_sign(down) > half_y + rows * 0.5f) c.last = c.first;
  if (s.slope != 0) {
    // Between its sides, at the height of the first and of the last row. So are round ends.
    f32 const middle = s.x + down * s.slope;
    f32 const reaches = (s.reach + without_sign(s.along_x) * rows * 0.5f) / without_sign(s.along_y);
    c.first = greater(c.first, middle - reaches);
    c.last = lesser(c.last, middle + reaches);
  }
  return c;
}
RONDO_PIXELS row_span rows_of(segment s) {
  f32 const reaches = without_sign(s.along_y) * s.half_length + s.reach;
  row_span const r = {s.y - reaches, s.y + reaches};
  return r;
}
/// Tiles of a row that it may touch.
RONDO_PIXELS tile_range tile_columns_of(segment s, tile_grid g, i32 row) {
  column_span const c = columns_of(s, static_cast<f32>(row * tile_side), tile_side);
  return tiles_within(c.first, c.last, g.columns);
}

/// The styles of strokes, in turn: the first stroke has the first one.
struct stroke_styles {
  RONDO_BUFFER stroke_style const* first;
  i32 count;
};

/// Draws strokes on `Blocks` blocks side by side, of two rows each, from (x, y) on. Unlike other shapes, the segments
/// of a stroke depend on each other: what they cover together is blended once.
template <i32 Columns, i32 Blocks, class Planes>
RONDO_PIXELS void draw_shapes(Planes to, shape_list<segment> list, stroke_styles styles, i32 x, i32 y) {
  typename block_of<Planes, Columns>::type drawn[Blocks];
  block_coverage<Columns> covered[Blocks];
  if (Blocks == 1) clear<Columns>(drawn[0]);
  u32 begun = 0, used = 0;  // blocks on which something was drawn, and those that the stroke in hand covers
  f32 const left = static_cast<f32>(x), top = static_cast<f32>(y);
  for (i32 n = list.count; n-- > 0;) {
    segment const s = list.shapes[number_of(list, n)];
    if (!is_drawn(s)) continue;
    stroke_style const how = styles.first[s.stroke % styles.count];
    block_range const over = blocks_within<Columns, Blocks>(columns_of(s, top, 2), x);
    for (i32 b = over.first; b < over.last; ++b) {
      if ((used >> b & 1) == 0)
        for (i32 i = 0; i < Columns; ++i) covered[b].of[0][i] = covered[b].of[1][i] = 0;
      used |= 1u << b;
      cover<Columns>(covered[b], s, how, left + static_cast<f32>(b * Columns), top);
    }
    bool const has_more = n != 0 && list.shapes[number_of(list, n - 1)].stroke == s.stroke;
    if (has_more || used == 0) continue;
    for (i32 b = 0; b < Blocks; ++b) {
      if ((used >> b & 1) == 0) continue;
      if (Blocks != 1 && (begun >> b & 1) == 0) clear<Columns>(drawn[b]);
      if (how.falls_off != 0) square<Columns>(covered[b].of[0]), square<Columns>(covered[b].of[1]);
      blend<Columns>(drawn[b], covered[b], how.colour);
    }
    begun |= used;
    used = 0;
  }
  for (i32 b = 0; b < Blocks; ++b)
    if ((begun >> b & 1) != 0) show<Columns>(drawn[b], to, x + b * Columns, y);
}

}  // namespace pixels
}  // namespace rondo
