// The video stages that come with Rondo, as a module. A module that also has stages of your own:
//   RONDO_STAGES(name, RONDO_VIDEO_STAGES, mine)
#pragma once

#include "actors/video/blur.hpp"
#include "actors/video/compositor.hpp"
#include "actors/video/frame_rate.hpp"
#include "actors/video/movement.hpp"
#include "actors/video/sinks.hpp"
#include "actors/video/test_pattern.hpp"
#include "actors/video/waveform.hpp"

#define RONDO_VIDEO_STAGES                                                                                  \
  ::rondo::video::test_pattern, ::rondo::video::blur, ::rondo::video::compositor, ::rondo::video::waveform, \
      ::rondo::video::frame_rate, ::rondo::video::find_movement, ::rondo::video::draw_movement,             \
      ::rondo::video::null_sink

namespace rondo::video {

RONDO_STAGES(video_stages, RONDO_VIDEO_STAGES)

}  // namespace rondo::video
