// The background model: what the camera sees when nobody is there, and which pixels of a frame differ from it.
//
// It works at half resolution, where luma (averaged over 2x2) and 4:2:0 chroma have the same size. Each pixel
// has two colours: the background and a candidate. A colour that is seen gains confidence; one that is
// not seen loses it. When the candidate has more confidence than the background, the two change places. So the ghost
// of a person in the very first frame soon disappears, a person who stands still is absorbed only after
// `confidence_limit / 2` frames, and a background that returns is recognised at once.
//
// Threads: a tile touches only its own rows of the model and of the mask; different tiles may run at the same
// time. All arithmetic is 16-bit integer (grey levels times 64), so that every device computes the same mask.
#pragma once

#include <cstdint>

#include "actors/video/pixels/image_view.hpp"

namespace rondo::video {

/// Thresholds are in grey levels (0..255), times in frames.
struct background_params {
  std::int16_t luma_threshold = 15;    ///< smallest luma difference that can be foreground
  std::int16_t chroma_threshold = 13;  ///< the same for |du| + |dv|
  std::int16_t noise_factor = 5;       ///< luma threshold in units of the pixel's mean deviation, if larger
  std::int16_t shadow_floor = 42;  ///< a shadow keeps at least this / 64 of the luma; 64: no shadow detection
  std::int16_t shadow_chroma = 7;  ///< a shadow changes |du| + |dv| by at most this
  std::int16_t confidence_limit = 900;  ///< maximum confidence; still objects are absorbed after half of it
};

/// The model's planes, all `width` by `height` with the same stride. A trivially copyable reference to flat
/// memory.
struct background_ref {
  std::int32_t width = 0;
  std::int32_t height = 0;
  std::int32_t stride = 0;
  std::int16_t *mean_y = nullptr, *mean_u = nullptr, *mean_v = nullptr, *confidence = nullptr;
  std::int16_t *next_y = nullptr, *next_u = nullptr, *next_v = nullptr, *next_confidence = nullptr;
  std::int16_t* deviation = nullptr;
};

/// Carves a model for frames of `frame_width` by `frame_height`. The memory needs no initialisation.
RONDO_HD inline background_ref carve_background(carver& memory, std::int32_t frame_width,
                                                std::int32_t frame_height) {
  background_ref model;
  model.width = frame_width / 2;
  model.height = frame_height / 2;
  model.stride = (model.width + 31) / 32 * 32;
  auto const items = static_cast<std::size_t>(model.stride) * static_cast<std::size_t>(model.height);
  model.mean_y = memory.take<std::int16_t>(items);
  model.mean_u = memory.take<std::int16_t>(items);
  model.mean_v = memory.take<std::int16_t>(items);
  model.confidence = memory.take<std::int16_t>(items);
  model.next_y = memory.take<std::int16_t>(items);
  model.next_u = memory.take<std::int16_t>(items);
  model.next_v = memory.take<std::int16_t>(items);
  model.next_confidence = memory.take<std::int16_t>(items);
  model.deviation = memory.take<std::int16_t>(items);
  return model;
}

namespace detail {

RONDO_HD constexpr std::int16_t s16(int value) { return static_cast<std::int16_t>(value); }
RONDO_HD constexpr std::int16_t abs16(std::int16_t a) { return s16(a < 0 ? -a : a); }
RONDO_HD constexpr std::int16_t min16(std::int16_t a, std::int16_t b) { return a < b ? a : b; }
RONDO_HD constexpr std::int16_t max16(std::int16_t a, std::int16_t b) { return a > b ? a : b; }

// Conditions are masks, -1 for true and 0 for false, and selections are bit operations: g++ vectorises this.
RONDO_HD constexpr std::int16_t at_most(std::int16_t a, std::int16_t b) { return s16(-(a <= b)); }
RONDO_HD constexpr std::int16_t pick(std::int16_t condition, std::int16_t a, std::int16_t b) {
  return s16(b ^ ((a ^ b) & condition));
}

/// Luma of half-resolution pixel i, times 64.
RONDO_HD inline std::int16_t half_luma(std::uint8_t const* y0, std::uint8_t const* y1, std::int32_t i) {
  return s16((y0[2 * i] + y0[2 * i + 1] + y1[2 * i] + y1[2 * i + 1]) << 4);
}

/// One row of the model; written without branches so that compilers vectorise it.
template <class Team>
RONDO_HD inline void background_row(Team const& team, std::int32_t width, background_params const p,
                                    std::uint8_t const* __restrict y0, std::uint8_t const* __restrict y1,
                                    std::uint8_t const* __restrict us, std::uint8_t const* __restrict vs,
                                    std::int16_t* __restrict mean_y, std::int16_t* __restrict mean_u,
                                    std::int16_t* __restrict mean_v, std::int16_t* __restrict confidence,
                                    std::int16_t* __restrict next_y, std::int16_t* __restrict next_u,
                                    std::int16_t* __restrict next_v, std::int16_t* __restrict next_confidence,
                                    std::int16_t* __restrict deviation, std::uint8_t* __restrict mask) {
  std::int16_t const luma_min = s16(p.luma_threshold * 64), chroma_max = s16(p.chroma_threshold * 64);
  std::int16_t const shadow_chroma = s16(p.shadow_chroma * 64), limit = p.confidence_limit;
  std::int16_t const known_again = s16(limit * 3 / 8);
  std::int16_t const shadow_floor = p.shadow_floor;
  for (auto const i : team.lanes(width)) {
    std::int16_t const y = half_luma(y0, y1, i), u = s16(us[i] << 6), v = s16(vs[i] << 6);
    std::int16_t const ay = mean_y[i], au = mean_u[i], av = mean_v[i], an = confidence[i];
    std::int16_t const by = next_y[i], bu = next_u[i], bv = next_v[i], bn = next_confidence[i];
    std::int16_t const dev = deviation[i];

    std::int16_t const luma_max = max16(luma_min, s16(dev * p.noise_factor));
    std::int16_t const dy = s16(y - ay), du = s16(u - au), dv = s16(v - av);
    std::int16_t const chroma = s16(abs16(du) + abs16(dv));
    std::int16_t const a = s16(at_most(abs16(dy), luma_max) & at_most(chroma, chroma_max));
    std::int16_t const ey = s16(y - by), eu = s16(u - bu), ev = s16(v - bv);
    std::int16_t const b_chroma = s16(abs16(eu) + abs16(ev));
    std::int16_t const b = s16(~a & at_most(abs16(ey), luma_max) & at_most(b_chroma, chroma_max));
    std::int16_t const shade = s16((ay >> 6) * shadow_floor);
    std::int16_t const shadow = s16(at_most(dy, -1) & at_most(shade, y) & at_most(chroma, shadow_chroma));

    // Rates: the background follows at 1/32 per frame, the candidate at 1/8.
    std::int16_t const ay2 = s16(ay + (a & ((dy + 16) >> 5))), au2 = s16(au + (a & ((du + 16) >> 5)));
    std::int16_t const av2 = s16(av + (a & ((dv + 16) >> 5)));
    std::int16_t const an2 = pick(a, min16(s16(an + 1), limit), max16(s16(an - 1), 0));
    std::int16_t const dev2 = min16(s16(dev + (a & ((abs16(dy) - dev + 16) >> 5))), 8 * 64);
    std::int16_t const fresh = s16(~a & ~b & at_most(bn, 1));
    std::int16_t const by2 = pick(fresh, y, s16(by + (b & ((ey + 4) >> 3))));
    std::int16_t const bu2 = pick(fresh, u, s16(bu + (b & ((eu + 4) >> 3))));
    std::int16_t const bv2 = pick(fresh, v, s16(bv + (b & ((ev + 4) >> 3))));
    std::int16_t const bn_seen = pick(b, min16(s16(bn + 1), limit), max16(s16(bn - 1), 1));
    std::int16_t const bn2 = pick(a, bn, bn_seen);

    std::int16_t const stay = at_most(bn2, an2);
    mean_y[i] = pick(stay, ay2, by2);
    mean_u[i] = pick(stay, au2, bu2);
    mean_v[i] = pick(stay, av2, bv2);
    confidence[i] = pick(stay, an2, bn2);
    next_y[i] = pick(stay, by2, ay2);
    next_u[i] = pick(stay, bu2, au2);
    next_v[i] = pick(stay, bv2, av2);
    next_confidence[i] = pick(stay, bn2, an2);
    deviation[i] = dev2;
    mask[i] = static_cast<std::uint8_t>(~a & ~shadow & ~(b & at_most(known_again, bn)) & 1);
  }
}

}  // namespace detail

/// Initialises the model of rows `rows` (half resolution) from this frame and clears their mask.
template <class Team>
RONDO_HD void learn_background(Team const& team, background_ref const& model, frame_view const& frame,
                               band rows, image_view<std::uint8_t> const& mask) {
  for (std::int32_t r = rows.first; r < rows.last; ++r) {
    std::ptrdiff_t const at = static_cast<std::ptrdiff_t>(r) * model.stride;
    for (auto const i : team.lanes(model.width)) {
      std::ptrdiff_t const k = at + i;
      model.mean_y[k] = model.next_y[k] = detail::half_luma(frame.y.row(2 * r), frame.y.row(2 * r + 1), i);
      model.mean_u[k] = model.next_u[k] = detail::s16(frame.u.at(i, r) << 6);
      model.mean_v[k] = model.next_v[k] = detail::s16(frame.v.at(i, r) << 6);
      model.confidence[k] = 1;
      model.next_confidence[k] = 0;
      model.deviation[k] = 2 * 64;
      mask.at(i, r) = 0;
    }
  }
}

/// Compares rows `rows` (half resolution) with the model, updates the model, and sets `mask` to 1 where the
/// frame shows foreground, otherwise to 0. `mask` is `model.width` by `model.height`.
template <class Team>
RONDO_HD void subtract_background(Team const& team, background_ref const& model,
                                  background_params const& params, frame_view const& frame, band rows,
                                  image_view<std::uint8_t> const& mask) {
  for (std::int32_t r = rows.first; r < rows.last; ++r) {
    std::ptrdiff_t const at = static_cast<std::ptrdiff_t>(r) * model.stride;
    detail::background_row(team, model.width, params, frame.y.row(2 * r), frame.y.row(2 * r + 1),
                           frame.u.row(r), frame.v.row(r), model.mean_y + at, model.mean_u + at,
                           model.mean_v + at, model.confidence + at, model.next_y + at, model.next_u + at,
                           model.next_v + at, model.next_confidence + at, model.deviation + at, mask.row(r));
  }
}

}  // namespace rondo::video
