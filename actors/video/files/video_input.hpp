// Opens what videos are read from: a file, a server, a sequence of pictures, or a camera. Its errors say more than
// FFmpeg's. Each is opened once, so that a pipe or a server of one connection can be read.
#pragma once

#include <chrono>
#include <string>

#include "actors/video/ffmpeg/ffmpeg.hpp"
#include "actors/video/ffmpeg/video_errors.hpp"

namespace rondo::video {

/// A camera of the system, and what it is asked for; it may give something similar.
struct camera_settings {
  std::string device = "/dev/video0";
  int width = 640, height = 480;
  double rate = 0;  // pictures per second; 0: the camera's own
};

/// What a video is read from.
struct video_source {
  enum class kind {
    file,     // by its name, whatever is in it; "-": standard input
    url,      // one that FFmpeg knows, such as rtsp://host/path
    pattern,  // numbered pictures, such as frame%04d.png
    camera
  };
  kind of = kind::file;
  std::string name;
  double rate = 0;  // of a pattern's pictures; 0: 25 a second
  camera_settings camera{};

  /// For messages: without a password.
  std::string shown() const;
};

/// Ends a call of FFmpeg that waits too long for a server. Files and cameras may take as long as they need.
class server_patience {
 public:
  static constexpr std::chrono::seconds limit{10};

  explicit server_patience(bool is_server) : is_server_(is_server) {}
  /// A call begins.
  void begin() { until_ = is_server_ ? clock::now() + limit : clock::time_point::max(); }
  /// For an AVFormatContext; refers to this object.
  AVIOInterruptCB callback() { return {&is_over, this}; }

 private:
  using clock = std::chrono::steady_clock;
  static int is_over(void* self) { return clock::now() > static_cast<server_patience*>(self)->until_; }

  bool is_server_;
  clock::time_point until_ = clock::time_point::max();
};

/// FFmpeg's text for an error of reading.
std::string why_not_read(int error);

/// `patience` must live as long as the input. Throws video_open_error if there is no such file or device, or it cannot
/// be opened, video_error if it is empty or no video.
ffmpeg::input open_input(video_source const& from, server_patience& patience);

}  // namespace rondo::video
