// The tracker: joins the regions of each frame to tracks, whose ids stay the same while a person is in sight.
//
// A track predicts the position of its box (constant velocity). Each region is then assigned to the tracks that it
// overlaps:
//   1. one region, one track          the track follows the region;
//   2. several regions, one track     pieces of one person: the track follows their common box if that has about
//                                     its size and the pieces are above one another;
//   3. one region, several tracks     people in front of each other: each track keeps its size and moves on; the
//                                     outermost ones follow the region's edges;
//   4. a region without a track       starts a track, shown once it was seen for `min_hits` frames and has moved;
//   5. a track without a region       moves on, slower each frame, and is dropped after `max_misses` frames.
//
// Threads: one lane calls `update_tracks`, one frame at a time. The state is flat and trivially
// copyable. Lengths are in sixteenths of a frame pixel, so that all arithmetic is integer and the same on every
// device.
#pragma once

#include <cstdint>

#include "actors/video/movement/components.hpp"
#include "kernels/pixels/shapes.hpp"

namespace rondo::video {

using pixels::box16;

/// Times in frames, lengths in pixels of the frame, ratios in percent.
struct tracker_params {
  std::int32_t min_hits = 5;        ///< frames a track must be seen before it is shown
  std::int32_t min_travel = 10;     ///< pixels its centre must have moved before it is shown
  std::int32_t max_misses = 20;     ///< frames a track survives unseen, once shown
  std::int32_t max_blind = 4;       ///< frames a track is still drawn while unseen
  std::int32_t max_misses_new = 2;  ///< frames a track survives unseen before it is shown
  std::int32_t max_grouped = 80;    ///< frames a track survives inside another's region
  std::int32_t min_height = 18;     ///< smallest region that starts a track
  std::int32_t min_overlap = 10;    ///< of the smaller box: the least overlap that joins a region to a track
  std::int32_t piece_growth = 130;  ///< of the track's size: the largest common box of pieces
  std::int32_t look_weight = 8;     ///< weight of a colour difference against a match
};

struct track {
  std::int32_t id;  ///< 1, 2, 3, ..., assigned when the track is first shown; 0 before
  std::int32_t hits, misses, grouped;
  box16 box;
  std::int32_t vx, vy;  ///< per frame, in 1/16 of a sixteenth
  std::int32_t born_x, born_y;
  std::int32_t look_y, look_u, look_v;  ///< mean colour, times 16, while alone in its region
};

struct tracker_state {
  static constexpr std::int32_t capacity = 64;
  std::int32_t count;
  std::int32_t next_id;
  std::int32_t overflow;  ///< regions that found no free track since the start
  std::int32_t frame_width, frame_height;
  track items[capacity];
};

/// Forgets everything; the next id shown is 1.
RONDO_HD inline void reset_tracker(tracker_state& state, std::int32_t frame_width,
                                   std::int32_t frame_height) {
  state.count = state.overflow = 0;
  state.next_id = 1;
  state.frame_width = frame_width;
  state.frame_height = frame_height;
}

/// True for a track that has an id.
RONDO_HD inline bool shown(track const& t) { return t.id != 0; }

/// True for a track that is to be drawn now.
RONDO_HD inline bool visible(tracker_params const& p, track const& t) {
  return t.id != 0 && t.misses <= p.max_blind;
}

/// Updates the tracks with one frame's regions. `scale` is the number of frame pixels per mask pixel.
RONDO_HD void update_tracks(tracker_state& state, tracker_params const& params, region_list const& regions,
                            std::int32_t scale);

static_assert(std::is_trivially_copyable_v<tracker_state>);

}  // namespace rondo::video

#include "actors/video/movement/tracker_update.hpp"
