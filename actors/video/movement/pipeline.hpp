// The pipeline that finds and draws what moves before one camera: all memory, and all functions, split into tiles, for
// a stage or a plain loop.
//
// A frame goes through four phases. Within a phase the tiles may run at the same time; there is a barrier between
// phases:
//   1. detect_tile   every tile: compares the frame with the background            (reads luma and chroma)
//   2. label_tile    every tile: cleans the mask and finds its runs
//   3. finish_frame  once:       updates regions and tracks, composes the drawing  (one lane)
//   4. draw_tile     every tile: draws on the frame in place
//
// The state is one flat block of `movement_bytes(...)` bytes; `movement_ref` points into it.
#pragma once

#include <cstdint>

#include "actors/video/movement/background.hpp"
#include "actors/video/movement/components.hpp"
#include "actors/video/movement/compose.hpp"
#include "actors/video/movement/draw.hpp"
#include "actors/video/movement/mask.hpp"
#include "actors/video/movement/tracker.hpp"

namespace rondo::video {

struct movement_params {
  background_params background;
  clean_params clean;
  tracker_params tracker;
  std::int32_t min_area = 30;         ///< smallest region, in mask pixels
  std::int32_t relearn_percent = 60;  ///< if more of the scene than this changes, it is learnt again
};

/// Data that the phases of one camera share, in addition to the planes.
struct movement_scene {
  std::int64_t frames;     ///< frames finished
  std::int32_t relearn;    ///< not 0: the next frame restarts the background
  std::int32_t relearned;  ///< how often that happened after the first frame
  tracker_state tracks;
  region_list regions;
  draw_list drawing;
};

struct movement_ref {
  std::int32_t width = 0, height = 0, tiles = 0;
  background_ref background;
  image_view<std::uint8_t> mask;
  bit_mask clean;
  component_ref components;
  std::uint64_t* scratch = nullptr;
  std::int32_t scratch_words = 0;  ///< per tile
  movement_scene* scene = nullptr;
};

RONDO_HD inline movement_ref carve_movement(carver& memory, std::int32_t width, std::int32_t height,
                                            std::int32_t tiles, movement_params const& params) {
  movement_ref o;
  o.width = width;
  o.height = height;
  o.tiles = tiles;
  o.background = carve_background(memory, width, height);
  std::int32_t const w = o.background.width, h = o.background.height, stride = (w + 63) / 64 * 64;
  o.mask = {memory.take<std::uint8_t>(static_cast<std::size_t>(stride) * static_cast<std::size_t>(h)), w, h,
            stride};
  o.clean = carve_bits(memory, w, h);
  o.components = carve_components(memory, h, tiles);
  o.scratch_words = clean_scratch_words(w, h / tiles + 1, params.clean);
  o.scratch =
      memory.take<std::uint64_t>(static_cast<std::size_t>(o.scratch_words) * static_cast<std::size_t>(tiles));
  o.scene = memory.take<movement_scene>(1);
  return o;
}

/// Bytes for one camera. The memory must be aligned to `carver::alignment`.
RONDO_HD inline std::size_t movement_bytes(std::int32_t width, std::int32_t height, std::int32_t tiles,
                                           movement_params const& params) {
  carver measure(nullptr);
  carve_movement(measure, width, height, tiles, params);
  return measure.used();
}

/// Must be called once before the first frame; call it again to forget everything.
RONDO_HD inline void reset_movement(movement_ref const& o) {
  o.scene->frames = 0;
  o.scene->relearn = 1;
  o.scene->relearned = 0;
  reset_tracker(o.scene->tracks, o.width, o.height);
  o.scene->regions.count = o.scene->regions.overflow = o.scene->regions.lost_runs = 0;
  clear(o.scene->drawing);
}

/// Phase 1.
template <class Team>
RONDO_HD void detect_tile(Team const& team, movement_ref const& o, movement_params const& p,
                          frame_view const& frame, std::int32_t tile) {
  band const rows = band_of(o.mask.height, o.tiles, tile);
  if (o.scene->relearn != 0)
    learn_background(team, o.background, frame, rows, o.mask);
  else
    subtract_background(team, o.background, p.background, frame, rows, o.mask);
}

/// Phase 2. `lead` is true on exactly one lane of the team.
template <class Team>
RONDO_HD void label_tile(Team const& team, movement_ref const& o, movement_params const& p, std::int32_t tile,
                         bool lead = true) {
  band const rows = band_of(o.mask.height, o.tiles, tile);
  clean_mask(team, o.mask, p.clean, rows, o.scratch + tile * o.scratch_words, o.clean);
  if (lead) label_tile(o.components, o.clean, tile, rows);
}

/// First half of phase 3, called by one lane: regions and tracks. Reads the frame, so it must not be drawn on yet.
RONDO_HD inline void update_scene(movement_ref const& o, movement_params const& p, frame_view const& frame) {
  movement_scene& s = *o.scene;
  finish_regions(o.components, p.min_area, s.regions);
  std::int64_t set = 0;
  for (std::int32_t i = 0; i < s.regions.count; ++i) set += s.regions.items[i].area;
  std::int64_t const pixels = std::int64_t{o.mask.width} * o.mask.height;
  s.relearn = set * 100 > pixels * p.relearn_percent ? 1 : 0;
  if (s.relearn != 0) {
    ++s.relearned;  // the light or the camera changed: the differences are not people
    s.regions.count = 0;
  }
  sample_looks(frame, o.clean, s.regions);
  update_tracks(s.tracks, p.tracker, s.regions, 2);
  ++s.frames;
}

/// Phase 3, called by one lane.
RONDO_HD inline void finish_frame(movement_ref const& o, movement_params const& p, frame_view const& frame,
                                  status_line const& status, colour_description const& of = {}) {
  update_scene(o, p, frame);
  compose(o.scene->tracks, p.tracker, status, o.scene->drawing, of);
}

/// Phase 4, with letters of the sizes that drawing_letters says.
template <class Team>
RONDO_HD void draw_tile(Team const& team, movement_ref const& o, frame_view const& frame,
                        pixels::letter_book const& letters, std::int32_t tile) {
  draw_tile(team, frame, o.scene->drawing, letters, band_of(o.height, o.tiles, tile, 2));
}

static_assert(std::is_trivially_copyable_v<movement_scene> && std::is_trivially_copyable_v<movement_ref>);

}  // namespace rondo::video
