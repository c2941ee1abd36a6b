// Composition of a drawing from tracks: a box and a label for each track, and a line with the camera's name and the
// frame rate.
#pragma once

#include <cstdint>

#include "actors/video/movement/shapes.hpp"
#include "actors/video/pixels/lettering.hpp"

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

/// The faces of a drawing's letters (kernels/pixels/letters.hpp).
enum : std::int32_t { label_face, status_face };

/// Of drawings for pictures of this height: 9 and 12 pixels for 576 lines.
RONDO_HD inline letter_sizes drawing_letters(std::int32_t picture_height) {
  auto const scaled = [picture_height](std::int32_t tenths) {
    return pixels::within((picture_height * tenths + 2880) / 5760, tenths / 10, letter_sizes::limit);
  };
  return {{scaled(88), scaled(122)}};
}

namespace detail {

/// A filled pill with text; (x16, y16) is its top left corner, which is rounded to a whole pixel. Returns its width.
RONDO_HD inline std::int32_t add_pill(draw_list& list, text_line line, std::int32_t x16, std::int32_t y16,
                                      std::int32_t capital, std::int32_t pad_y, sample_colour fill,
                                      std::int16_t alpha) {
  std::int32_t const pad_x = (3 * capital + 3) / 7;
  std::int32_t wide = 2 * pad_x;
  for (std::int32_t k = 0; k < line.length; ++k) wide += letter_advance(line.text[k], capital);
  line.x = ((x16 + 8) >> 4) + pad_x;
  line.y = ((y16 + 8) >> 4) + pad_y;
  box16 const b{16 * (line.x - pad_x), 16 * (line.y - pad_y), 16 * (line.x - pad_x + wide),
                16 * (line.y + capital + pad_y)};
  add(list, rounded_box{b, height(b) * 3 / 10, 0, fill, fill, alpha, 0});
  add(list, line);
  return 16 * wide;
}

}  // namespace detail

/// Fills `list` for a frame of the tracker's size, whose samples mean what `of` says. Lines and letters grow with the
/// height of the frame.
RONDO_HD inline void compose(tracker_state const& tracks, tracker_params const& params,
                             status_line const& status, draw_list& list, colour_description const& of = {}) {
  using namespace detail;
  clear(list);
  std::int32_t const unit = most(16, tracks.frame_height * 16 / 576);  // one pixel of a 576-line frame
  auto const sizes = drawing_letters(tracks.frame_height);
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
    std::int32_t const capital = sizes.capital[label_face], pad = (2 * capital + 3) / 7;
    text_line label{0, 0, label_face, black, 256, 0, {}};
    append(label, static_cast<std::int64_t>(t.id));
    std::int32_t const above = t.box.y0 - 4 * unit - 16 * (capital + 2 * pad);
    std::int32_t const y = above >= 0 ? above : t.box.y0 + 2 * unit;
    add_pill(list, label, t.box.x0 - 4 * unit, y, capital, pad, samples_of(track_colour(t.id), of), 245);
  }

  text_line line{0, 0, status_face, white, 256, 0, {}};
  append(line, status.camera);
  if (status.frames_per_s_x10 > 0) {
    if (line.length > 0) append(line, "  ");
    append(line, static_cast<std::int64_t>(status.frames_per_s_x10 / 10));
    append(line, ".");
    append(line, static_cast<std::int64_t>(status.frames_per_s_x10 % 10));
    append(line, " fps");
  }
  auto const capital = sizes.capital[status_face];  // more room than a label has, for the tails of letters
  if (line.length > 0) add_pill(list, line, 12 * unit, 12 * unit, capital, (3 * capital + 3) / 7, black, 150);
}

}  // namespace rondo::video
