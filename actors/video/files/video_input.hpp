// Opens what videos are read from: a file or a URL, or a camera. Its errors say more than FFmpeg's.
#pragma once

#include <chrono>
#include <string>

#include "actors/video/files/ffmpeg.hpp"
#include "actors/video/files/video_format.hpp"

namespace rondo::video {

/// Ends a call of FFmpeg that waits too long for a server. Files and cameras may take as long as they need.
class server_patience {
 public:
  static constexpr std::chrono::seconds limit{10};

  explicit server_patience(std::string const& source) : is_server_(source.find("://") != std::string::npos) {}
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

/// `patience` must live as long as the input. Throws video_open_error if the file is missing or cannot be opened,
/// video_error if it is empty or no video.
ffmpeg::input open_file(std::string const& source, server_patience& patience);
/// Throws video_open_error if there is no such device, or if it is no camera.
ffmpeg::input open_camera(camera_settings const& camera);

}  // namespace rondo::video
