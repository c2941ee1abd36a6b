// Drawing a draw_list on a picture: anti-aliased boxes by signed distance, and text by letters made before.
//
// A pixel's coverage follows from the distance of its centre to the shape's edge; a chroma sample takes the mean
// coverage of its four pixels. The unit of work is a block of 2x2 pixels, which one lane draws, shape after shape: so
// rows and lanes need not wait for each other.
#pragma once

#include "kernels/pixels/letters.hpp"
#include "kernels/pixels/planes.hpp"
#include "kernels/pixels/shapes.hpp"

namespace rondo {
namespace pixels {

RONDO_PIXELS u8 blended(u8 pixel, i32 value, i32 alpha) {
  return static_cast<u8>(pixel + (((value - pixel) * alpha + 128) >> 8));
}

/// The square root, rounded to the nearest number; in whole numbers, so that all devices round alike.
RONDO_PIXELS i32 rounded_root(i32 square) {
  u32 root = 0, rest = static_cast<u32>(square), bit = 1u << 30;
  while (bit > rest) bit >>= 2;
  for (; bit != 0; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return static_cast<i32>(rest > root ? root + 1 : root);
}

/// Signed distance, in 1/16 pixel, from the centre of pixel (x, y) to the edge of a rounded box; negative inside.
RONDO_PIXELS i32 distance16(box16 b, i32 radius16, i32 x, i32 y) {
  i32 const cx = 16 * x + 8, cy = 16 * y + 8;
  i32 const qx = most(b.x0 + radius16 - cx, cx - (b.x1 - radius16));
  i32 const qy = most(b.y0 + radius16 - cy, cy - (b.y1 - radius16));
  if (qx <= 0 || qy <= 0) return most(qx, qy) - radius16;
  return rounded_root(qx * qx + qy * qy) - radius16;
}

/// Of a box's inside, and of its edge.
struct fill_shape {
  box16 box;
  i32 radius16;
};
struct stroke_shape {
  box16 box;
  i32 radius16, stroke16;
};
/// How much of pixel (x, y) a shape covers, of 256.
RONDO_PIXELS i32 coverage(fill_shape s, i32 x, i32 y) {
  return within((8 - distance16(s.box, s.radius16, x, y)) * 16, 0, 256);
}
RONDO_PIXELS i32 coverage(stroke_shape s, i32 x, i32 y) {
  i32 const d = distance16(s.box, s.radius16, x, y);
  return within((8 + s.stroke16 / 2 - (d < 0 ? -d : d)) * 16, 0, 256);
}

/// One 2x2 block of pixels and its chroma sample.
template <class Shape>
RONDO_PIXELS void draw_block(drawn_planes to, i32 bx, i32 by, sample_colour c, i32 alpha, Shape shape) {
  i32 sum = 0;
  for (i32 y = 2 * by; y < 2 * by + 2; ++y) {
    for (i32 x = 2 * bx; x < 2 * bx + 2; ++x) {
      i32 const a = coverage(shape, x, y) * alpha >> 8;
      sum += a;
      if (a == 0 || x >= to.width || y >= to.height) continue;
      RONDO_BUFFER u8* const pixel = to.y + y * to.stride + x;
      *pixel = blended(*pixel, c.y, a);
    }
  }
  if (sum == 0) return;
  i32 const at = by * to.colour_stride + bx;
  to.u[at] = blended(to.u[at], c.u, sum / 4);
  to.v[at] = blended(to.v[at], c.v, sum / 4);
}

/// Blends a value into samples [begin, end) of a row, as `blended` does; compilers vectorise it.
RONDO_PIXELS void blend_span(RONDO_BUFFER u8* row, i32 begin, i32 end, u8 value, i32 alpha, i32 first,
                             i32 step) {
  u16 const add = static_cast<u16>(value * alpha + 128), keep = static_cast<u16>(256 - alpha);
  for (i32 x = first_from(begin, first, step); x < end; x += step)
    row[x] = static_cast<u8>(static_cast<u16>(row[x] * keep + add) >> 8);
}
/// The same for blocks [begin, end) of two pixels each, of which there are `width` in all.
RONDO_PIXELS void blend_pairs(RONDO_BUFFER u8* row, i32 begin, i32 end, i32 width, u8 value, i32 alpha,
                              i32 first, i32 step) {
  if (step == 1) return blend_span(row, 2 * begin, least(2 * end, width), value, alpha, 0, 1);
  for (i32 bx = first_from(begin, first, step); bx < end; bx += step)
    blend_span(row, 2 * bx, least(2 * bx + 2, width), value, alpha, 0, 1);
}

/// Those of 2x2 pixels that touch [from16, to16), clipped to [0, limit).
RONDO_PIXELS block_range blocks_of(i32 from16, i32 to16, i32 limit) {
  block_range r;
  r.first = least(from16 < 0 ? 0 : from16 / 32, limit);
  r.last = least(to16 < 0 ? 0 : (to16 + 31) / 32, limit);
  return r;
}

RONDO_PIXELS void draw_box_blocks(drawn_planes to, rounded_box b, i32 by, i32 begin, i32 end, i32 first,
                                  i32 step) {
  fill_shape const fill = {b.box, b.radius16};
  stroke_shape const stroke = {b.box, b.radius16, b.stroke16};
  for (i32 bx = first_from(begin, first, step); bx < end; bx += step) {
    if (b.fill_alpha != 0) draw_block(to, bx, by, b.fill, b.fill_alpha, fill);
    if (b.stroke_alpha != 0) draw_block(to, bx, by, b.stroke, b.stroke_alpha, stroke);
  }
}

/// The part of a box in row `by` of blocks.
RONDO_PIXELS void draw_box_row(drawn_planes to, rounded_box b, i32 by, i32 first, i32 step) {
  i32 const outer = b.stroke16 / 2 + 16, inner = most(b.radius16, b.stroke16 / 2 + 16);
  block_range const across = blocks_of(b.box.x0 - outer, b.box.x1 + outer, (to.width + 1) / 2);
  bool const even = by * 32 >= b.box.y0 + inner && (by + 1) * 32 <= b.box.y1 - inner;
  if (!even) return draw_box_blocks(to, b, by, across.first, across.last, first, step);
  // Blocks entirely inside, away from stroke and corners, have full coverage.
  block_range flat;
  flat.first = least(most((b.box.x0 + inner + 31) / 32, across.first), across.last);
  flat.last = most(flat.first, least((b.box.x1 - inner) / 32, across.last));
  draw_box_blocks(to, b, by, across.first, flat.first, first, step);
  draw_box_blocks(to, b, by, flat.last, across.last, first, step);
  if (b.fill_alpha == 0) return;
  for (i32 y = 2 * by; y < 2 * by + 2 && y < to.height; ++y)
    blend_pairs(to.y + y * to.stride, flat.first, flat.last, to.width, b.fill.y, b.fill_alpha, first, step);
  i32 const at = by * to.colour_stride;
  blend_span(to.u + at, flat.first, flat.last, b.fill.u, b.fill_alpha, first, step);
  blend_span(to.v + at, flat.first, flat.last, b.fill.v, b.fill_alpha, first, step);
}

/// The part of all shapes in row `by` of blocks.
RONDO_PIXELS void draw_row(drawn_planes to, RONDO_BUFFER draw_list const* list,
                           RONDO_BUFFER letter_book const* book, i32 by, i32 first, i32 step) {
  i32 const rows = (to.height + 1) / 2;
  for (i32 i = 0; i < list->boxes; ++i) {
    rounded_box const b = list->box[i];
    i32 const outer = b.stroke16 / 2 + 16;
    block_range const down = blocks_of(b.box.y0 - outer, b.box.y1 + outer, rows);
    if (by >= down.first && by < down.last) draw_box_row(to, b, by, first, step);
  }
  for (i32 i = 0; i < list->texts; ++i) draw_text_row(to, list->text + i, book, by, first, step);
}

}  // namespace pixels
}  // namespace rondo
