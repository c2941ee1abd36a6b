// Drawing a draw_list on a frame, tile by tile: anti-aliased boxes by signed distance, and text.
//
// A pixel's coverage follows from the distance of its centre to the shape's edge; a chroma sample takes the mean
// coverage of its four pixels. The unit of work is a block of 2x2 pixels.
// Threads: a tile writes only its own rows, which must start at an even row. Different tiles may run at the same time,
// and their number does not change the picture.
#pragma once

#include <cmath>
#include <cstdint>

#include "actors/video/movement/shapes.hpp"
#include "actors/video/pixels/font.hpp"
#include "actors/video/pixels/image_view.hpp"

namespace rondo::video {

namespace detail {

RONDO_HD constexpr std::int32_t clamp256(std::int32_t v) { return v < 0 ? 0 : v > 256 ? 256 : v; }

RONDO_HD inline void blend(std::uint8_t& pixel, std::int32_t value, std::int32_t alpha) {
  pixel = static_cast<std::uint8_t>(pixel + (((value - pixel) * alpha + 128) >> 8));
}

/// Signed distance, in 1/16 pixel, from (x, y) to the edge of a rounded box; negative inside.
/// The square root is taken of an exact integer, so that all devices round it alike.
RONDO_HD inline std::int32_t distance16(rounded_box const& b, std::int32_t x, std::int32_t y) {
  std::int32_t const r = b.radius16;
  std::int32_t const qx = most(b.box.x0 + r - x, x - (b.box.x1 - r));
  std::int32_t const qy = most(b.box.y0 + r - y, y - (b.box.y1 - r));
  if (qx <= 0 || qy <= 0) return most(qx, qy) - r;
  return static_cast<std::int32_t>(std::sqrt(static_cast<float>(qx * qx + qy * qy)) + 0.5F) - r;
}

/// Draws one 2x2 block of pixels and its chroma sample; `cover(x, y)` gives a pixel's coverage (0 to 256).
template <class Cover>
RONDO_HD inline void draw_block(frame_view const& f, std::int32_t bx, std::int32_t by, sample_colour const& c,
                                std::int32_t alpha, Cover const& cover) {
  std::int32_t sum = 0;
  for (std::int32_t y = 2 * by; y < 2 * by + 2; ++y) {
    for (std::int32_t x = 2 * bx; x < 2 * bx + 2; ++x) {
      std::int32_t const a = cover(x, y) * alpha >> 8;
      sum += a;
      if (a != 0 && x < f.y.width && y < f.y.height) blend(f.y.at(x, y), c.y, a);
    }
  }
  if (sum == 0) return;
  blend(f.u.at(bx, by), c.u, sum / 4);
  blend(f.v.at(bx, by), c.v, sum / 4);
}

/// Blends `value` into `count` items of one row; compilers vectorise it.
template <class Team>
RONDO_HD inline void blend_span(Team const& team, std::uint8_t* __restrict row, std::int32_t count,
                                std::uint8_t value, std::int32_t alpha) {
  auto const add = static_cast<std::uint16_t>(value * alpha + 128);
  auto const keep = static_cast<std::uint16_t>(256 - alpha);
  for (auto const i : team.lanes(count))
    row[i] = static_cast<std::uint8_t>(static_cast<std::uint16_t>(row[i] * keep + add) >> 8);
}

/// Blocks [first, last) of 2x2 pixels that touch [from16, to16), clipped to [0, limit).
RONDO_HD constexpr band blocks_of(std::int32_t from16, std::int32_t to16, std::int32_t limit) {
  std::int32_t const first = from16 < 0 ? 0 : from16 / 32, last = to16 < 0 ? 0 : (to16 + 31) / 32;
  return {least(first, limit), least(last, limit)};
}

template <class Team>
RONDO_HD inline void draw_box(Team const& team, frame_view const& f, rounded_box const& b, band rows) {
  std::int32_t const outer = b.stroke16 / 2 + 16, inner = most(b.radius16, b.stroke16 / 2 + 16);
  band const across = blocks_of(b.box.x0 - outer, b.box.x1 + outer, f.u.width);
  band const down = blocks_of(b.box.y0 - outer, b.box.y1 + outer, f.u.height);
  // Blocks entirely inside, away from stroke and corners, have full coverage.
  band flat{(b.box.x0 + inner + 31) / 32, (b.box.x1 - inner) / 32};
  flat.first = least(most(flat.first, across.first), across.last);
  flat.last = most(flat.first, least(flat.last, across.last));
  std::int32_t const edges = across.last - across.first - (flat.last - flat.first);

  for (std::int32_t by = most(down.first, rows.first / 2); by < least(down.last, (rows.last + 1) / 2); ++by) {
    bool const even = by * 32 >= b.box.y0 + inner && (by + 1) * 32 <= b.box.y1 - inner;
    auto const draw = [&](std::int32_t bx) {
      if (b.fill_alpha != 0)
        draw_block(f, bx, by, b.fill, b.fill_alpha, [&](std::int32_t x, std::int32_t y) {
          return clamp256((8 - distance16(b, x * 16 + 8, y * 16 + 8)) * 16);
        });
      if (b.stroke_alpha != 0)
        draw_block(f, bx, by, b.stroke, b.stroke_alpha, [&](std::int32_t x, std::int32_t y) {
          return clamp256((8 + b.stroke16 / 2 - magnitude(distance16(b, x * 16 + 8, y * 16 + 8))) * 16);
        });
    };
    if (!even) {
      for (auto const i : team.lanes(across.last - across.first)) draw(across.first + i);
      continue;
    }
    for (auto const i : team.lanes(edges)) {
      std::int32_t const left = flat.first - across.first;
      draw(i < left ? across.first + i : flat.last + i - left);
    }
    if (b.fill_alpha == 0) continue;
    std::int32_t const blocks = flat.last - flat.first, x = 2 * flat.first;
    blend_span(team, f.y.row(2 * by) + x, least(2 * blocks, f.y.width - x), b.fill.y, b.fill_alpha);
    if (2 * by + 1 < f.y.height)
      blend_span(team, f.y.row(2 * by + 1) + x, least(2 * blocks, f.y.width - x), b.fill.y, b.fill_alpha);
    blend_span(team, f.u.row(by) + flat.first, blocks, b.fill.u, b.fill_alpha);
    blend_span(team, f.v.row(by) + flat.first, blocks, b.fill.v, b.fill_alpha);
  }
}

template <class Team>
RONDO_HD inline void draw_text(Team const& team, frame_view const& f, text_line const& t, band rows) {
  std::int32_t const advance = glyph_advance * t.dot16;
  band const across = blocks_of(t.x16 - 16, t.x16 + advance * t.length + 16, f.u.width);
  band const down = blocks_of(t.y16 - 16, t.y16 + glyph_rows * t.dot16 + 16, f.u.height);
  auto const cover = [&](std::int32_t px, std::int32_t py) {
    std::int32_t const x = px * 16 + 8 - t.x16 + t.dot16 / 2, y = py * 16 + 8 - t.y16;
    if (x < 0 || x >= advance * t.length) return 0;
    std::int32_t const k = x / advance, in = x - k * advance - t.dot16 / 2;
    return glyph_coverage(t.text[k], in * 256 / t.dot16, y * 256 / t.dot16, t.dot16);
  };
  for (std::int32_t by = most(down.first, rows.first / 2); by < least(down.last, (rows.last + 1) / 2); ++by)
    for (auto const i : team.lanes(across.last - across.first))
      draw_block(f, across.first + i, by, t.ink, t.alpha, cover);
}

}  // namespace detail

/// Draws the part of `list` on rows `rows` of the frame. Precondition: `rows.first` is even.
template <class Team>
RONDO_HD void draw_tile(Team const& team, frame_view const& frame, draw_list const& list, band rows) {
  for (std::int32_t i = 0; i < list.boxes; ++i) {
    detail::draw_box(team, frame, list.box[i], rows);
    team.sync();
  }
  for (std::int32_t i = 0; i < list.texts; ++i) {
    detail::draw_text(team, frame, list.text[i], rows);
    team.sync();
  }
}

}  // namespace rondo::video
