// The stages that `rondo stream` knows, compiled for every device of the build.
#pragma once

#include "actors/video/media/media_module.hpp"
#include "actors/video/stages/network_ports.hpp"
#include "actors/video/stages/process_ports.hpp"
#include "actors/video/stages/transfers.hpp"
#include "actors/video/video_module.hpp"

namespace rondo::tools {

RONDO_STAGES(stream_stages, RONDO_VIDEO_STAGES, RONDO_MEDIA_STAGES, video::network_source,
             video::network_sink, video::process_source, video::process_sink, video::to_device,
             video::to_host)

}  // namespace rondo::tools
