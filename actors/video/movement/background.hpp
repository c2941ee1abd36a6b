// The background model: what the camera sees when nobody is there, and which pixels of a frame differ from it.
//
// It works at half resolution, where luma (averaged over 2x2) and 4:2:0 chroma have the same size. Each pixel
// has two colours: the background and a candidate. A colour that is seen gains confidence; one that is
// not seen loses it. When the candidate has more confidence than the background, the two change places. So the ghost
// of a person in the very first frame soon disappears, a person who stands still is absorbed only after
// `confidence_limit / 2` frames, and a background that returns is recognised at once.
//
// Threads: a tile touches only its own rows of the model and of the mask; different tiles may run at the same
// time. The arithmetic of a row is in kernels/pixels/background.hpp, the same on every device.
#pragma once

#include <cstdint>

#include "actors/video/pixels/image_view.hpp"
#include "actors/video/pixels/rows.hpp"

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

/// Row `r` of the model and of a picture.
RONDO_HD inline pixels::background_rows rows_at(background_ref const& m, frame_view const& frame,
                                                image_view<std::uint8_t> const& mask, std::int32_t r) {
  std::ptrdiff_t const at = static_cast<std::ptrdiff_t>(r) * m.stride;
  return {frame.y.row(2 * r), frame.y.row(2 * r + 1), frame.u.row(r),    frame.v.row(r), m.mean_y + at,
          m.mean_u + at,      m.mean_v + at,          m.confidence + at, m.next_y + at,  m.next_u + at,
          m.next_v + at,      m.next_confidence + at, m.deviation + at,  mask.row(r),    m.width};
}

}  // namespace detail

RONDO_HD constexpr pixels::background_limits limits_of(background_params const& p) {
  return {p.luma_threshold, p.chroma_threshold, p.noise_factor,
          p.shadow_floor,   p.shadow_chroma,    p.confidence_limit};
}

/// Initialises the model of rows `rows` (half resolution) from this frame and clears their mask.
template <class Team>
RONDO_HD void learn_background(Team const& team, background_ref const& model, frame_view const& frame,
                               band rows, image_view<std::uint8_t> const& mask) {
  for (std::int32_t r = rows.first; r < rows.last; ++r)
    pixels::learn_row(detail::rows_at(model, frame, mask, r), team.lane(), team.lane_count());
}

/// Compares rows `rows` (half resolution) with the model, updates the model, and sets `mask` to 1 where the
/// frame shows foreground, otherwise to 0. `mask` is `model.width` by `model.height`.
template <class Team>
RONDO_HD void subtract_background(Team const& team, background_ref const& model,
                                  background_params const& params, frame_view const& frame, band rows,
                                  image_view<std::uint8_t> const& mask) {
  video::rows const row{team.lane(), team.lane_count()};
  for (std::int32_t r = rows.first; r < rows.last; ++r)
    row.subtract(detail::rows_at(model, frame, mask, r), limits_of(params));
}

}  // namespace rondo::video
