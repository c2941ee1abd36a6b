// A clip's format, a camera's settings, and the errors of the video reader and writer.
#pragma once

#include <stdexcept>
#include <string>

namespace rondo::video {

/// The message says what was tried, what was found and what to do.
struct video_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The source does not exist or cannot be opened. Any other video_error is about its contents.
struct video_open_error : video_error {
  using video_error::video_error;
};

/// Colours are FFmpeg's numbers (AVColorSpace and so on); 2 is "unspecified".
struct video_format {
  int width = 0;
  int height = 0;
  double frames_per_second = 25.0;
  int tick_num = 0, tick_den = 0;  // of time stamps, as a fraction of a second; 0: one for each frame
  int pixel_aspect_num = 1, pixel_aspect_den = 1;
  int colour_matrix = 2, colour_primaries = 2, colour_transfer = 2;
};

/// A camera of the system, and what it is asked for; it may give something similar.
struct camera_settings {
  std::string device = "/dev/video0";
  int width = 640, height = 480;
  double rate = 0;  // pictures per second; 0: the camera's own
};

}  // namespace rondo::video
