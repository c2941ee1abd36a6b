// The pixels that are being drawn on: a block of two rows. Shapes come from the top down: what is drawn first hides
// what comes later. So a block collects light, and how much of the picture below is still seen; the picture is read
// once, in the end, and everything is rounded once. A sample of colour is the mean of what its four pixels show,
// exactly.
//
// Loops over columns have a fixed length, no branches, and plain arrays, so that compilers vectorise them.
#pragma once

#include "kernels/pixels/overlay/half.hpp"
#include "kernels/pixels/planes.hpp"

namespace rondo {
namespace pixels {

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

/// A colour, as samples from 0 to 255, or red, green and blue from 0 to 1 on a layer; and its opacity, from 0 to 1.
struct ink {
  f32 y, u, v, opacity;
};

/// `Columns` by 2 pixels.
template <i32 Columns>
struct block {
  enum { columns = Columns };
  f32 light[2][Columns];               // of what was drawn, in brightness
  f32 through[2][Columns];             // how much is seen of what is below it
  f32 u[Columns / 2], v[Columns / 2];  // as light, the mean of four pixels
};
/// The same on a layer, in red, green and blue.
template <i32 Columns>
struct layer_block {
  enum { columns = Columns };
  f32 light[3][2][Columns];
  f32 through[2][Columns];
};
/// The block of such planes.
template <class Planes, i32 Columns>
struct block_of {
  typedef block<Columns> type;
};
template <i32 Columns>
struct block_of<layer_planes, Columns> {
  typedef layer_block<Columns> type;
};
/// A block all of whose pixels are alike. On a layer, red, green and blue are where brightness and colours are.
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

template <i32 Columns>
RONDO_PIXELS void clear(RONDO_PRIVATE layer_block<Columns>& b) {
  for (i32 r = 0; r < 2; ++r)
    for (i32 i = 0; i < Columns; ++i)
      b.light[0][r][i] = b.light[1][r][i] = b.light[2][r][i] = 0, b.through[r][i] = 1;
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
template <i32 Columns>
RONDO_PIXELS void spread(RONDO_PRIVATE layer_block<Columns>& to, flat_block b) {
  for (i32 r = 0; r < 2; ++r)
    for (i32 i = 0; i < Columns; ++i) {
      to.light[0][r][i] = b.light, to.light[1][r][i] = b.u, to.light[2][r][i] = b.v;
      to.through[r][i] = b.through;
    }
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

template <i32 Columns>
RONDO_PIXELS void blend(RONDO_PRIVATE layer_block<Columns>& b, RONDO_PRIVATE block_coverage<Columns> const& c,
                        ink k) {
  for (i32 r = 0; r < 2; ++r) {
    RONDO_PRIVATE f32* RONDO_RESTRICT const red = b.light[0][r];
    RONDO_PRIVATE f32* RONDO_RESTRICT const green = b.light[1][r];
    RONDO_PRIVATE f32* RONDO_RESTRICT const blue = b.light[2][r];
    RONDO_PRIVATE f32* RONDO_RESTRICT const through = b.through[r];
    RONDO_PRIVATE f32 const* RONDO_RESTRICT const covered = c.of[r];
    for (i32 i = 0; i < Columns; ++i) {
      f32 const of_it = covered[i] * k.opacity * through[i];
      red[i] += of_it * k.y;
      green[i] += of_it * k.u;
      blue[i] += of_it * k.v;
      through[i] -= of_it;
    }
  }
}

/// A row of samples below what was drawn.
template <i32 Columns>
RONDO_PIXELS void show(RONDO_BUFFER u8* RONDO_RESTRICT to, RONDO_PRIVATE f32 const* RONDO_RESTRICT light,
                       RONDO_PRIVATE f32 const* RONDO_RESTRICT through) {
  for (i32 i = 0; i < Columns; ++i)
    to[i] = static_cast<u8>(static_cast<i32>(light[i] + through[i] * static_cast<f32>(to[i]) + 0.5f));
}

template <i32 Columns>
RONDO_PIXELS void show(RONDO_BUFFER u16* RONDO_RESTRICT to, RONDO_PRIVATE f32 const* RONDO_RESTRICT light,
                       RONDO_PRIVATE f32 const* RONDO_RESTRICT through) {
  for (i32 i = 0; i < Columns; ++i) to[i] = to_half(light[i] + through[i] * from_half(to[i]));
}
/// Pairs, as a lane of a GPU draws them, are loaded and stored at once: a store of a warp moves whole sectors, however
/// little of each it writes. At a multiple of their size.
template <class Pair, class Sample>
RONDO_PIXELS Pair load_pair(RONDO_BUFFER Sample const* at) {
#if defined(__CUDA_ARCH__) || defined(RONDO_ON_PLAYER)
  return *reinterpret_cast<RONDO_BUFFER Pair const*>(at);
#else
  Pair p;
  __builtin_memcpy(&p, at, sizeof p);
  return p;
#endif
}
template <class Pair, class Sample>
RONDO_PIXELS void store_pair(RONDO_BUFFER Sample* at, Pair p) {
#if defined(__CUDA_ARCH__) || defined(RONDO_ON_PLAYER)
  *reinterpret_cast<RONDO_BUFFER Pair*>(at) = p;
#else
  __builtin_memcpy(at, &p, sizeof p);
#endif
}
template <>
RONDO_PIXELS void show<2>(RONDO_BUFFER u8* RONDO_RESTRICT to, RONDO_PRIVATE f32 const* RONDO_RESTRICT light,
                          RONDO_PRIVATE f32 const* RONDO_RESTRICT through) {
  u16 const below = load_pair<u16>(to);
  i32 const left = static_cast<i32>(light[0] + through[0] * static_cast<f32>(below & 255) + 0.5f),
            right = static_cast<i32>(light[1] + through[1] * static_cast<f32>(below >> 8) + 0.5f);
  store_pair(to, static_cast<u16>(left | right << 8));
}
template <>
RONDO_PIXELS void show<2>(RONDO_BUFFER u16* RONDO_RESTRICT to, RONDO_PRIVATE f32 const* RONDO_RESTRICT light,
                          RONDO_PRIVATE f32 const* RONDO_RESTRICT through) {
  u32 const below = load_pair<u32>(to);
  u32 const left = to_half(light[0] + through[0] * from_half(static_cast<u16>(below))),
            right = to_half(light[1] + through[1] * from_half(static_cast<u16>(below >> 16)));
  store_pair(to, left | right << 16);
}
/// Of opacities, the largest of which is `all`.
template <i32 Columns, class Sample>
RONDO_PIXELS void show_opacities(RONDO_BUFFER Sample* to, RONDO_PRIVATE f32 const* through, f32 all) {
  f32 light[Columns];
  for (i32 i = 0; i < Columns; ++i) light[i] = all - all * through[i];
  show<Columns>(to, light, through);
}

/// The block over the picture, from (x, y) on.
template <i32 Columns>
RONDO_PIXELS void show(RONDO_PRIVATE block<Columns> const& b, drawn_planes to, i32 x, i32 y) {
  f32 through[Columns], pairs[Columns / 2];
  if (to.opacities != nullptr)
    for (i32 r = 0; r < 2; ++r)
      show_opacities<Columns>(to.opacities + (y + r) * to.stride + x, b.through[r], 255);
  for (i32 r = 0; r < 2; ++r) show<Columns>(to.y + (y + r) * to.stride + x, b.light[r], b.through[r]);
  for (i32 i = 0; i < Columns; ++i) through[i] = (b.through[0][i] + b.through[1][i]) * 0.25f;
  add_pairs<Columns>(pairs, through);
  i32 const at = y / 2 * to.colour_stride + x / 2;
  show<Columns / 2>(to.u + at, b.u, pairs);
  show<Columns / 2>(to.v + at, b.v, pairs);
}

template <i32 Columns>
RONDO_PIXELS void show(RONDO_PRIVATE layer_block<Columns> const& b, layer_planes to, i32 x, i32 y) {
  for (i32 r = 0; r < 2; ++r) {
    i32 const at = (y + r) * to.stride + x;
    show<Columns>(to.red + at, b.light[0][r], b.through[r]);
    show<Columns>(to.green + at, b.light[1][r], b.through[r]);
    show<Columns>(to.blue + at, b.light[2][r], b.through[r]);
    show_opacities<Columns>(to.opacities + at, b.through[r], 1);
  }
}

/// Whether the tile with pixel (x, y) has no samples yet: who draws on it first empties all of its blocks, and
/// marks it once all of them are drawn.
RONDO_PIXELS bool lacks_samples(drawn_planes, i32, i32) { return false; }
RONDO_PIXELS bool lacks_samples(layer_planes p, i32 x, i32 y) { return !is_marked(p.marks, x, y); }
/// Samples of nothing for the block of 2x2 pixels from (x, y) on.
RONDO_PIXELS void empty_block(drawn_planes, i32, i32) {}
RONDO_PIXELS void empty_block(layer_planes to, i32 x, i32 y) {
  for (i32 r = 0; r < 2; ++r) {
    i32 const at = (y + r) * to.stride + x;
    store_pair(to.red + at, u32{0});
    store_pair(to.green + at, u32{0});
    store_pair(to.blue + at, u32{0});
    store_pair(to.opacities + at, u32{0});
  }
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
  if (to.opacities == nullptr) return;
  for (i32 r = 0; r < 2; ++r)
    show<Columns>(to.opacities + (y + r) * to.stride + x, 255 - 255 * b.through, b.through);
}
template <i32 Columns>
RONDO_PIXELS void show(flat_block b, layer_planes to, i32 x, i32 y) {
  layer_block<Columns> drawn;
  spread<Columns>(drawn, b);
  show<Columns>(drawn, to, x, y);
}

}  // namespace pixels
}  // namespace rondo
