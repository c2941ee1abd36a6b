// Writes one frame as a PNG picture.
#pragma once

#include <string>

#include "actors/video/files/video_format.hpp"
#include "actors/video/pixels/image_view.hpp"

namespace rondo::video {

/// Creates or replaces `path`. `colour_matrix` is the video's (see video_format). Throws video_error.
void write_png(std::string const& path, frame_view const& frame, int colour_matrix = 2);

}  // namespace rondo::video
