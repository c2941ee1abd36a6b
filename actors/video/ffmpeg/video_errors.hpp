// The errors of the video reader and writer.
#pragma once

#include <stdexcept>

namespace rondo::video {

/// The message says what was tried, what was found and what to do.
struct video_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The source does not exist or cannot be opened. Any other video_error is about its contents.
struct video_open_error : video_error {
  using video_error::video_error;
};

/// This machine has no hardware that the codec which was asked for can use, or it has failed.
struct video_device_error : video_error {
  using video_error::video_error;
};

}  // namespace rondo::video
