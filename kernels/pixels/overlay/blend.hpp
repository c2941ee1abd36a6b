// A layer over a picture, in one of the usual ways (W3C, Compositing and Blending Level 1): pixel by pixel, in red,
// green and blue as they are stored, with 32-bit floats; what comes out is rounded once. A layer is a picture of 8 bits
// with opacities, or without, or one of layer_planes. The sample of colour of four pixels has the mean of their
// opacities.
#pragma once

#include "kernels/pixels/overlay/block.hpp"

namespace rondo {
namespace pixels {

enum blend_mode {
  blend_normal,
  blend_multiply,
  blend_screen,
  blend_overlay,
  blend_darken,
  blend_lighten,
  blend_dodge,
  blend_burn,
  blend_hard_light,
  blend_soft_light,
  blend_difference,
  blend_exclusion,
  blend_add
};

/// How samples follow from red, green and blue, which are from 0 to 1.
struct colour_matrix {
  f32 red, green, blue;  // their shares in brightness, 1 together
  f32 black, bright;     // the sample of black, and from there to white
  f32 u, v;              // samples for a difference of 1 of blue, or red, from brightness
};

/// How a layer is put over a picture.
struct blending {
  i32 mode;  // a blend_mode
  colour_matrix colours;
};

RONDO_PIXELS f32 within_1(f32 a) { return greater(0, lesser(1, a)); }

RONDO_PIXELS f32 hard_light(f32 below, f32 above) {
  return above <= 0.5f ? 2 * above * below : 1 - 2 * (1 - above) * (1 - below);
}
/// The colour of a layer without transparency over another one; both from 0 to 1.
template <i32 Mode>
RONDO_PIXELS f32 mixed(f32 below, f32 above) {
  switch (Mode) {
    case blend_multiply:
      return below * above;
    case blend_screen:
      return below + above - below * above;
    case blend_overlay:
      return hard_light(above, below);
    case blend_darken:
      return lesser(below, above);
    case blend_lighten:
      return greater(below, above);
    case blend_dodge:
      return below <= 0 ? 0 : above >= 1 ? 1 : lesser(1, below / (1 - above));
    case blend_burn:
      return below >= 1 ? 1 : above <= 0 ? 0 : 1 - lesser(1, (1 - below) / above);
    case blend_hard_light:
      return hard_light(below, above);
    case blend_soft_light: {
      f32 const lighter = below <= 0.25f ? ((16 * below - 12) * below + 4) * below : root(below);
      return above <= 0.5f ? below - (1 - 2 * above) * below * (1 - below)
                           : below + (2 * above - 1) * (lighter - below);
    }
    case blend_difference:
      return without_sign(below - above);
    case blend_exclusion:
      return below + above - 2 * below * above;
    case blend_add:
      return lesser(1, below + above);
    default:
      return above;
  }
}

/// What a mode makes of a layer's light, which is premultiplied, over these values.
template <i32 Mode, i32 Columns>
RONDO_PIXELS void mix(RONDO_PRIVATE f32* RONDO_RESTRICT light, RONDO_PRIVATE f32 const* RONDO_RESTRICT below,
                      RONDO_PRIVATE f32 const* RONDO_RESTRICT through) {
  for (i32 i = 0; i < Columns; ++i) {
    f32 const opacity = 1 - through[i];
    f32 const above = light[i] / greater(opacity, 1e-6f);
    light[i] = opacity * mixed<Mode>(within_1(below[i]), within_1(above));
  }
}
template <i32 Columns>
RONDO_PIXELS void mix(i32 mode, RONDO_PRIVATE f32* light, RONDO_PRIVATE f32 const* below,
                      RONDO_PRIVATE f32 const* through) {
  switch (mode) {
    case blend_multiply:
      return mix<blend_multiply, Columns>(light, below, through);
    case blend_screen:
      return mix<blend_screen, Columns>(light, below, through);
    case blend_overlay:
      return mix<blend_overlay, Columns>(light, below, through);
    case blend_darken:
      return mix<blend_darken, Columns>(light, below, through);
    case blend_lighten:
      return mix<blend_lighten, Columns>(light, below, through);
    case blend_dodge:
      return mix<blend_dodge, Columns>(light, below, through);
    case blend_burn:
      return mix<blend_burn, Columns>(light, below, through);
    case blend_hard_light:
      return mix<blend_hard_light, Columns>(light, below, through);
    case blend_soft_light:
      return mix<blend_soft_light, Columns>(light, below, through);
    case blend_difference:
      return mix<blend_difference, Columns>(light, below, through);
    case blend_exclusion:
      return mix<blend_exclusion, Columns>(light, below, through);
    case blend_add:
      return mix<blend_add, Columns>(light, below, through);
    default:
      return;
  }
}

/// Samples of a picture as red, green and blue. `seen`, of four pixels: the opacity with which u and v are
/// premultiplied, which each pixel gets back with its own.
template <i32 Columns>
RONDO_PIXELS void to_rgb(RONDO_PRIVATE layer_block<Columns>& to, drawn_planes from, colour_matrix m, i32 x,
                         i32 y, RONDO_PRIVATE f32 const* seen) {
  i32 const at = y / 2 * from.colour_stride + x / 2;
  f32 const from_u = 1 / m.u, from_v = 1 / m.v, from_y = 1 / m.bright, from_green = 1 / m.green;
  f32 blue[Columns], red[Columns];  // from brightness, in a pixel without transparency
  for (i32 i = 0; i < Columns / 2; ++i) {
    f32 const part = 1 / greater(seen[i], 1e-6f);
    blue[2 * i] = blue[2 * i + 1] = (static_cast<f32>(from.u[at + i]) * part - 128) * from_u;
    red[2 * i] = red[2 * i + 1] = (static_cast<f32>(from.v[at + i]) * part - 128) * from_v;
  }
  for (i32 r = 0; r < 2; ++r) {
    RONDO_BUFFER u8 const* const row = from.y + (y + r) * from.stride + x;
    for (i32 i = 0; i < Columns; ++i) {
      f32 const opacity = 1 - to.through[r][i];
      f32 const bright = (static_cast<f32>(row[i]) - m.black * opacity) * from_y;
      f32 const of_red = bright + red[i] * opacity, of_blue = bright + blue[i] * opacity;
      to.light[0][r][i] = of_red;
      to.light[1][r][i] = (bright - m.red * of_red - m.blue * of_blue) * from_green;
      to.light[2][r][i] = of_blue;
    }
  }
}
/// A block of a layer of 8 bits, or of numbers of 16.
template <i32 Columns>
RONDO_PIXELS void load(RONDO_PRIVATE layer_block<Columns>& to, drawn_planes from, colour_matrix m, i32 x,
                       i32 y) {
  f32 seen[Columns / 2];
  for (i32 r = 0; r < 2; ++r)
    for (i32 i = 0; i < Columns; ++i)
      to.through[r][i] =
          from.opacities != nullptr
              ? static_cast<f32>(255 - from.opacities[(y + r) * from.stride + x + i]) * (1.0f / 255)
              : 0;
  for (i32 i = 0; i < Columns / 2; ++i)
    seen[i] = 1 - (to.through[0][2 * i] + to.through[0][2 * i + 1] + to.through[1][2 * i] +
                   to.through[1][2 * i + 1]) *
                      0.25f;
  to_rgb<Columns>(to, from, m, x, y, seen);
}
template <i32 Columns>
RONDO_PIXELS void load(RONDO_PRIVATE layer_block<Columns>& to, layer_planes from, colour_matrix, i32 x,
                       i32 y) {
  for (i32 r = 0; r < 2; ++r) {
    i32 const at = (y + r) * from.stride + x;
    for (i32 i = 0; i < Columns; ++i) to.light[0][r][i] = from_half(from.red[at + i]);
    for (i32 i = 0; i < Columns; ++i) to.light[1][r][i] = from_half(from.green[at + i]);
    for (i32 i = 0; i < Columns; ++i) to.light[2][r][i] = from_half(from.blue[at + i]);
    for (i32 i = 0; i < Columns; ++i) to.through[r][i] = 1 - from_half(from.opacities[at + i]);
  }
}

/// Whether a block of a layer shows something: where it has no opacity, it has no light.
template <i32 Columns>
RONDO_PIXELS bool shows_something(drawn_planes from, i32 x, i32 y) {
  if (from.opacities == nullptr) return true;
  u32 any = 0;
  for (i32 r = 0; r < 2; ++r)
    for (i32 i = 0; i < Columns; ++i) any |= from.opacities[(y + r) * from.stride + x + i];
  return any != 0;
}
template <i32 Columns>
RONDO_PIXELS bool shows_something(layer_planes from, i32 x, i32 y) {
  if (!is_marked(from.marks, x, y)) return false;
  u32 any = 0;
  for (i32 r = 0; r < 2; ++r)
    for (i32 i = 0; i < Columns; ++i) any |= from.opacities[(y + r) * from.stride + x + i];
  return any != 0;
}

RONDO_PIXELS u8 to_sample(f32 a) {
  return static_cast<u8>(static_cast<i32>(greater(0, lesser(255, a)) + 0.5f));
}

/// Light over the picture, as its samples.
template <i32 Columns>
RONDO_PIXELS void show(RONDO_PRIVATE layer_block<Columns> const& b, drawn_planes to, colour_matrix m, i32 x,
                       i32 y) {
  f32 u[Columns / 2], v[Columns / 2], seen[Columns / 2], of_u[Columns], of_v[Columns], through[Columns];
  for (i32 i = 0; i < Columns; ++i) of_u[i] = of_v[i] = through[i] = 0;
  for (i32 r = 0; r < 2; ++r) {
    RONDO_BUFFER u8* const row = to.y + (y + r) * to.stride + x;
    for (i32 i = 0; i < Columns; ++i) {
      f32 const red = b.light[0][r][i], green = b.light[1][r][i], blue = b.light[2][r][i];
      f32 const bright = m.red * red + m.green * green + m.blue * blue;
      of_u[i] += blue - bright;
      of_v[i] += red - bright;
      through[i] += b.through[r][i];
      row[i] = to_sample(m.bright * bright + m.black * (1 - b.through[r][i]) +
                         b.through[r][i] * static_cast<f32>(row[i]));
    }
  }
  add_pairs<Columns>(u, of_u);
  add_pairs<Columns>(v, of_v);
  add_pairs<Columns>(seen, through);
  i32 const at = y / 2 * to.colour_stride + x / 2;
  for (i32 i = 0; i < Columns / 2; ++i) {
    f32 const part = seen[i] * 0.25f, grey = 128 * (1 - part);
    to.u[at + i] = to_sample(m.u * 0.25f * u[i] + grey + part * static_cast<f32>(to.u[at + i]));
    to.v[at + i] = to_sample(m.v * 0.25f * v[i] + grey + part * static_cast<f32>(to.v[at + i]));
  }
}

/// Begins to load what lies below a block: a processor does not foresee that something is shown there, too.
RONDO_PIXELS void fetch(drawn_planes p, i32 x, i32 y) {
#if defined(RONDO_ON_PLAYER) || defined(__CUDA_ARCH__)
  static_cast<void>(p), static_cast<void>(x), static_cast<void>(y);
#else
  for (i32 r = 0; r < 2; ++r) __builtin_prefetch(p.y + (y + r) * p.stride + x, 1);
  __builtin_prefetch(p.u + y / 2 * p.colour_stride + x / 2, 1);
  __builtin_prefetch(p.v + y / 2 * p.colour_stride + x / 2, 1);
#endif
}
RONDO_PIXELS void fetch(layer_planes p, i32 x, i32 y) {
#if defined(RONDO_ON_PLAYER) || defined(__CUDA_ARCH__)
  static_cast<void>(p), static_cast<void>(x), static_cast<void>(y);
#else
  for (i32 r = 0; r < 2; ++r) {
    i32 const at = (y + r) * p.stride + x;
    __builtin_prefetch(p.red + at);
    __builtin_prefetch(p.green + at);
    __builtin_prefetch(p.blue + at);
    __builtin_prefetch(p.opacities + at);
  }
#endif
}

template <i32 Columns, class Layer>
RONDO_PIXELS void blend_block(drawn_planes to, Layer from, blending how, i32 x, i32 y) {
  if (!shows_something<Columns>(from, x, y)) return;
  if (Columns > 2 && y + 4 < to.height) fetch(from, x, y + 4), fetch(to, x, y + 4);
  layer_block<Columns> above;
  load<Columns>(above, from, how.colours, x, y);
  if (how.mode != blend_normal) {
    layer_block<Columns> below;
    f32 seen[Columns / 2];
    for (i32 i = 0; i < Columns / 2; ++i) seen[i] = 1;
    for (i32 r = 0; r < 2; ++r)
      for (i32 i = 0; i < Columns; ++i) below.through[r][i] = 0;
    to_rgb<Columns>(below, to, how.colours, x, y, seen);
    for (i32 c = 0; c < 3; ++c)
      for (i32 r = 0; r < 2; ++r)
        mix<Columns>(how.mode, above.light[c][r], below.light[c][r], above.through[r]);
  }
  show<Columns>(above, to, how.colours, x, y);
}

/// Columns up to the first wide block: none of them is in two tiles of a layer, of which one may have no samples.
RONDO_PIXELS i32 narrow_columns(drawn_planes) { return 0; }
RONDO_PIXELS i32 narrow_columns(layer_planes from) { return (16 - from.marks.left % 16) % 16; }

/// Rows y and y + 1 of a layer over those of the picture: both begin where they overlap, and are as wide as `to`.
template <class Layer>
RONDO_PIXELS void blend_rows(drawn_planes to, Layer from, blending how, i32 y, i32 first, i32 step) {
  i32 x = 0;
#if !defined(RONDO_ON_PLAYER)  // whose compilers need not see all this twice
  if (step == 1) {
    for (; x < narrow_columns(from) && x < to.width; x += 2) blend_block<2>(to, from, how, x, y);
    for (; x + 16 <= to.width; x += 16) blend_block<16>(to, from, how, x, y);
  }
#endif
  for (x += 2 * first; x < to.width; x += 2 * step) blend_block<2>(to, from, how, x, y);
}

}  // namespace pixels
}  // namespace rondo
