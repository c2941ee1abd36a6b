// The stages that `rondo stream` knows, compiled for every device of the build.
#pragma once

#include "actors/video/blur.hpp"
#include "actors/video/compositor.hpp"
#include "actors/video/frame_rate.hpp"
#include "actors/video/sinks.hpp"
#include "actors/video/test_pattern.hpp"
#include "actors/video/waveform.hpp"

namespace rondo::tools {

RONDO_STAGES(stream_stages, video::test_pattern, video::blur, video::compositor, video::waveform,
             video::frame_rate, video::null_sink)

}  // namespace rondo::tools
