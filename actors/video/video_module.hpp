// The video stages that come with Rondo, as a module: RONDO_STAGES takes the same list for one with stages of your own.
#pragma once

#include "actors/video/blur.hpp"
#include "actors/video/compositor.hpp"
#include "actors/video/frame_rate.hpp"
#include "actors/video/sinks.hpp"
#include "actors/video/test_pattern.hpp"
#include "actors/video/waveform.hpp"

namespace rondo::video {

RONDO_STAGES(video_stages, test_pattern, blur, compositor, waveform, frame_rate, null_sink)

}  // namespace rondo::video
