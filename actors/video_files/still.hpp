// Writes one frame as a PNG picture.
#pragma once

#include <string>

#include "actors/overlay/image_view.hpp"
#include "actors/video_files/video_format.hpp"

namespace rondo::video {

/// Creates or replaces `path`. `colour_matrix` is the video's (see video_format). Throws video_error.
void write_png(std::string const& path, overlay::frame_view const& frame, int colour_matrix = 2);

}  // namespace rondo::video
