// The video stages that come with Rondo, as a module. A module that also has stages of your own:
//   RONDO_STAGES(name, RONDO_VIDEO_STAGES, mine)
#pragma once

#include "actors/video/stages/blur.hpp"
#include "actors/video/stages/compositor.hpp"
#include "actors/video/stages/draw_boxes.hpp"
#include "actors/video/stages/draw_edges.hpp"
#include "actors/video/stages/draw_particles.hpp"
#include "actors/video/stages/frame_rate.hpp"
#include "actors/video/stages/knn_graph.hpp"
#include "actors/video/stages/layer.hpp"
#include "actors/video/stages/movement.hpp"
#include "actors/video/stages/sinks.hpp"
#include "actors/video/stages/test_pattern.hpp"
#include "actors/video/stages/waveform.hpp"

#define RONDO_VIDEO_STAGES                                                                                  \
  ::rondo::video::test_pattern, ::rondo::video::blur, ::rondo::video::compositor, ::rondo::video::waveform, \
      ::rondo::video::frame_rate, ::rondo::video::find_movement, ::rondo::video::draw_movement,             \
      ::rondo::video::knn_graph, ::rondo::video::draw_lines, ::rondo::video::draw_curves,                   \
      ::rondo::video::layer, ::rondo::video::draw_boxes, ::rondo::video::draw_sparks,                       \
      ::rondo::video::draw_particles, ::rondo::video::null_sink

namespace rondo::video {

RONDO_STAGES(video_stages, RONDO_VIDEO_STAGES)

}  // namespace rondo::video
