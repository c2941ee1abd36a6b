// The pixels that are being drawn on: a block of two rows. Shapes come from the top down: what is drawn first hides
// what comes later. So a block collects light, and how much of the picture below is still seen; the picture is read
// once, in the end, and everything is rounded once. A sample of colour is the mean of what its four pixels show,
// exactly.
//
// Loops over columns have a fixed length, no branches, and plain arrays, so that compilers vectorise them.
#pragma once

#include "kernels/pixels/portable.hpp"

namespace rondo {
namespace pixels {

typedef float f32;

RONDO_PIXELS f32 lesser(f32 a, f32 b) { return a < b ? a : b; }
RONDO_PIXELS f32 greater(f32 a, f32 b) { return a > b ? a : b; }
RONDO_PIXELS f32 without_sign(f32 a) { return a < 0 ? -a : a; }
/// The root of a number that is not negative.
RONDO_PIXELS f32 root(f32 square) {
#if defined(RONDO_ON_PLAYER)
  return sqrt(square);
#else
  return __builtin_sqrtf(square);
#endif
}

/// The planes that are drawn on. Rows are padded, so that blocks of 16 columns lie within.
struct drawn_planes {
  RONDO_BUFFER u8* y;
  RONDO_BUFFER u8* u;
  RONDO_BUFFER u8* v;
  i32 stride, colour_stride;
  i32 width, height;  // in pixels; even
};

/// A colour, as samples from 0 to 255, and its opacity, from 0 to 1.
struct ink {
  f32 y, u, v, opacity;
};

/// `Columns` by 2 pixels.
template <i32 Columns>
struct block {
  f32 light[2][Columns];               // of what was drawn, in brightness
  f32 through[2][Columns];             // how much is seen of what is below it
  f32 u[Columns / 2], v[Columns / 2];  // as light, the mean of four pixels
};
/// A block all of whose pixels are alike.
struct flat_block {
  f32 light, through, u, v;
};
/// How much of each pixel something covers, from 0 to 1.
template <i32 Columns>
struct block_coverage {
  f32 of[2][Columns];
};

/// Columns from `first` up to `last`; empty if it is not above.
struct column_span {
  f32 first, last;
};
/// Rows, likewise.
struct row_span {
  f32 first, last;
};
/// Blocks [first, last) of some that lie side by side.
struct block_range {
  i32 first, last;
};
/// Those of `Blocks` blocks from column x on that a span touches.
template <i32 Columns, i32 Blocks>
RONDO_PIXELS block_range blocks_within(column_span s, i32 x) {
  f32 const left = static_cast<f32>(x), right = static_cast<f32>(x + Columns * Blocks);
  block_range r = {0, 0};
  if (!(s.first < s.last) || s.last <= left || s.first >= right) return r;
  r.first = s.first <= left ? 0 : static_cast<i32>(s.first - left) / Columns;
  r.last = s.last >= right ? Blocks : static_cast<i32>(s.last - left) / Columns + 1;
  return r;
}

/// Sums of pairs of columns.
template <i32 Columns>
RONDO_PIXELS void add_pairs(RONDO_PRIVATE f32* RONDO_RESTRICT sums,
                            RONDO_PRIVATE f32 const* RONDO_RESTRICT of) {
  for (i32 i = 0; i < Columns / 2; ++i) sums[i] = of[2 * i] + of[2 * i + 1];
}

template <i32 Columns>
RONDO_PIXELS void clear(RONDO_PRIVATE block<Columns>& b) {
  for (i32 r = 0; r < 2; ++r)
    for (i32 i = 0; i < Columns; ++i) b.light[r][i] = 0, b.through[r][i] = 1;
  for (i32 i = 0; i < Columns / 2; ++i) b.u[i] = b.v[i] = 0;
}

RONDO_PIXELS void clear(RONDO_PRIVATE flat_block& b) {
  b.light = b.u = b.v = 0;
  b.through = 1;
}
template <i32 Columns>
RONDO_PIXELS void spread(RONDO_PRIVATE block<Columns>& to, flat_block b) {
  for (i32 r = 0; r < 2; ++r)
    for (i32 i = 0; i < Columns; ++i) to.light[r][i] = b.light, to.through[r][i] = b.through;
  for (i32 i = 0; i < Columns / 2; ++i) to.u[i] = b.u;
  for (i32 i = 0; i < Columns / 2; ++i) to.v[i] = b.v;
}

/// A colour, below all that was drawn before.
RONDO_PIXELS void blend(RONDO_PRIVATE flat_block& b, ink k) {
  f32 const of_it = k.opacity * b.through;
  b.light += of_it * k.y;
  b.u += of_it * k.u;
  b.v += of_it * k.v;
  b.through -= of_it;
}
/// What is covered with a colour, below all that was drawn before.
template <i32 Columns>
RONDO_PIXELS void blend(RONDO_PRIVATE block<Columns>& b, RONDO_PRIVATE block_coverage<Columns> const& c,
                        ink k) {
  f32 seen[Columns], pairs[Columns / 2];
  for (i32 i = 0; i < Columns; ++i) seen[i] = 0;
  for (i32 r = 0; r < 2; ++r) {
    RONDO_PRIVATE f32* RONDO_RESTRICT const light = b.light[r];
    RONDO_PRIVATE f32* RONDO_RESTRICT const through = b.through[r];
    RONDO_PRIVATE f32 const* RONDO_RESTRICT const covered = c.of[r];
    for (i32 i = 0; i < Columns; ++i) {
      f32 const of_it = covered[i] * k.opacity * through[i];
      light[i] += of_it * k.y;
      through[i] -= of_it;
      seen[i] += of_it;
    }
  }
  add_pairs<Columns>(pairs, seen);
  f32 const u = k.u * 0.25f, v = k.v * 0.25f;
  for (i32 i = 0; i < Columns / 2; ++i) b.u[i] += pairs[i] * u;
  for (i32 i = 0; i < Columns / 2; ++i) b.v[i] += pairs[i] * v;
}

/// A row of samples below what was drawn.
template <i32 Columns>
RONDO_PIXELS void show(RONDO_BUFFER u8* RONDO_RESTRICT to, RONDO_PRIVATE f32 const* RONDO_RESTRICT light,
                       RONDO_PRIVATE f32 const* RONDO_RESTRICT through) {
  for (i32 i = 0; i < Columns; ++i)
    to[i] = static_cast<u8>(static_cast<i32>(light[i] + through[i] * static_cast<f32>(to[i]) + 0.5f));
}

/// The block over the picture, from (x, y) on.
template <i32 Columns>
RONDO_PIXELS void show(RONDO_PRIVATE block<Columns> const& b, drawn_planes to, i32 x, i32 y) {
  f32 through[Columns], pairs[Columns / 2];
  for (i32 r = 0; r < 2; ++r) show<Columns>(to.y + (y + r) * to.stride + x, b.light[r], b.through[r]);
  for (i32 i = 0; i < Columns; ++i) through[i] = (b.through[0][i] + b.through[1][i]) * 0.25f;
  add_pairs<Columns>(pairs, through);
  i32 const at = y / 2 * to.colour_stride + x / 2;
  show<Columns / 2>(to.u + at, b.u, pairs);
  show<Columns / 2>(to.v + at, b.v, pairs);
}

/// In sixteen bits: the light in parts of 256 of a sample, how much is seen in parts of 65,536.
template <i32 Columns>
RONDO_PIXELS void show(RONDO_BUFFER u8* RONDO_RESTRICT to, f32 light, f32 through) {
  u16 const above = static_cast<u16>(static_cast<i32>(light * 256 + 0.5f) + 128);
  u16 const part = static_cast<u16>(static_cast<i32>(lesser(through, 1) * 65535 + 0.5f));
  for (i32 i = 0; i < Columns; ++i) {
    u16 const below = static_cast<u16>(static_cast<u32>(static_cast<u16>(to[i] << 8)) * part >> 16);
    to[i] = static_cast<u8>(static_cast<u16>(above + below) >> 8);
  }
}
template <i32 Columns>
RONDO_PIXELS void show(flat_block b, drawn_planes to, i32 x, i32 y) {
  for (i32 r = 0; r < 2; ++r) show<Columns>(to.y + (y + r) * to.stride + x, b.light, b.through);
  i32 const at = y / 2 * to.colour_stride + x / 2;
  show<Columns / 2>(to.u + at, b.u, b.through);
  show<Columns / 2>(to.v + at, b.v, b.through);
}

}  // namespace pixels
}  // namespace rondo
