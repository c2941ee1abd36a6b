// Composition of a drawing from tracks: a box and a label for each track, and a line with the camera's name and the
// frame rate.
#pragma once

#include <cstdint>

#include "actors/video/movement/shapes.hpp"
#include "actors/video/pixels/font.hpp"

namespace rondo::video {

/// The contents of the status line. `camera` ends with a 0.
struct status_line {
  char camera[32];
  std::int32_t frames_per_s_x10;  ///< tenths of frames per second; 0 leaves it out
};

/// The colour of a track. Consecutive ids have very different hues.
RONDO_HD inline rgb track_colour(std::int32_t id) {
  static constexpr rgb palette[] = {
      {64, 196, 255},  {255, 171, 64},  {178, 255, 89},  {255, 82, 130},  {255, 238, 88},
      {186, 130, 255}, {38, 230, 190},  {255, 120, 80},  {130, 177, 255}, {240, 98, 235},
      {200, 230, 60},  {255, 190, 200}, {160, 240, 230},
  };
  constexpr std::int32_t colours = sizeof(palette) / sizeof(palette[0]);
  return palette[(id % colours + colours) % colours];
}

namespace detail {

/// A filled pill with text; (x16, y16) is its top left corner. Returns its width.
RONDO_HD inline std::int32_t add_pill(draw_list& list, text_line line, std::int32_t x16, std::int32_t y16,
                                      std::int32_t dot16, sample_colour fill, std::int16_t alpha) {
  std::int32_t const pad_x = 3 * dot16, pad_y = 2 * dot16;
  std::int32_t const w = (line.length * glyph_advance - 1) * dot16 + 2 * pad_x,
                     h = glyph_rows * dot16 + 2 * pad_y;
  add(list, rounded_box{{x16, y16, x16 + w, y16 + h}, h * 3 / 10, 0, fill, fill, alpha, 0});
  line.x16 = x16 + pad_x;
  line.y16 = y16 + pad_y;
  line.dot16 = dot16;
  add(list, line);
  return w;
}

}  // namespace detail

/// Fills `list` for a frame of the tracker's size, whose samples mean what `of` says. Lines and letters grow with the
/// height of the frame.
RONDO_HD inline void compose(tracker_state const& tracks, tracker_params const& params,
                             status_line const& status, draw_list& list, colour_description const& of = {}) {
  using namespace detail;
  clear(list);
  std::int32_t const unit = most(16, tracks.frame_height * 16 / 576);  // one pixel of a 576-line frame
  sample_colour const black = samples_of({10, 14, 20}, of), white = samples_of({250, 252, 255}, of);

  for (std::int32_t i = 0; i < tracks.count; ++i) {
    track const& t = tracks.items[i];
    if (!visible(params, t)) continue;
    sample_colour const tint = samples_of(track_colour(t.id), of);
    std::int32_t const margin = 3 * unit;
    box16 const b{t.box.x0 - margin, t.box.y0 - margin, t.box.x1 + margin, t.box.y1 + margin};
    std::int32_t const radius = least(6 * unit, least(width(b), height(b)) / 2);
    add(list, rounded_box{b, radius, 4 * unit, tint, black, 34, 110});
    add(list, rounded_box{b, radius, 2 * unit, tint, tint, 0, 256});
  }
  for (std::int32_t i = 0; i < tracks.count; ++i) {
    track const& t = tracks.items[i];
    if (!visible(params, t)) continue;
    std::int32_t const dot = unit * 5 / 4;
    text_line label{0, 0, 0, black, 256, 0, {}};
    append(label, static_cast<std::int64_t>(t.id));
    std::int32_t const pill_height = (glyph_rows + 4) * dot;
    std::int32_t const above = t.box.y0 - 4 * unit - pill_height;
    std::int32_t const y = above >= 0 ? above : t.box.y0 + 2 * unit;
    add_pill(list, label, t.box.x0 - 4 * unit, y, dot, samples_of(track_colour(t.id), of), 245);
  }

  text_line line{0, 0, 0, white, 256, 0, {}};
  append(line, status.camera);
  if (status.frames_per_s_x10 > 0) {
    if (line.length > 0) append(line, "  ");
    append(line, static_cast<std::int64_t>(status.frames_per_s_x10 / 10));
    append(line, ".");
    append(line, static_cast<std::int64_t>(status.frames_per_s_x10 % 10));
    append(line, " fps");
  }
  if (line.length > 0) add_pill(list, line, 12 * unit, 12 * unit, unit * 7 / 4, black, 150);
}

}  // namespace rondo::video
