// Drawing a draw_list on a frame, tile by tile (kernels/pixels/draw.hpp).
//
// Threads: a tile writes only its own rows, which must start at an even row. Different tiles may run at the same time,
// and their number does not change the picture.
#pragma once

#include <cstdint>

#include "actors/video/movement/shapes.hpp"
#include "actors/video/pixels/image_view.hpp"
#include "kernels/pixels/draw.hpp"

namespace rondo::video {

/// Draws the part of `list` on rows `rows` of the frame, with these letters. Precondition: `rows.first` is even.
template <class Team>
RONDO_HD void draw_tile(Team const& team, frame_view const& frame, draw_list const& list,
                        pixels::letter_book const& letters, band rows) {
  pixels::drawn_planes const to{frame.y.data,   frame.u.data,  frame.v.data,  frame.y.stride,
                                frame.u.stride, frame.y.width, frame.y.height};
  for (std::int32_t by = rows.first / 2; by < (rows.last + 1) / 2; ++by)
    pixels::draw_row(to, &list, &letters, by, team.lane(), team.lane_count());
  team.sync();
}

}  // namespace rondo::video
