// Writes frames as an H.264 video in an MP4 file.
//
// It is written as NAME.part, and gets its name when it is closed, also after a failure (runtime/files/part_file.hpp).
// The file is fragmented: if the process is killed, what was written up to the last key frame (every two seconds) plays
// as NAME.part. H.264 comes from libx264; if FFmpeg was built without it, the video is MPEG-4 part 2.
// Threads: one at a time. The encoder uses threads of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "actors/video/files/video_format.hpp"
#include "actors/video/pixels/image_view.hpp"
#include "runtime/os/made_here.hpp"

namespace rondo::video {

class video_writer {
 public:
  /// Creates `path`, or replaces it when the video is closed; "-" is standard output. If the width or height is odd,
  /// the last column or row is left out (4:2:0 video is even). `quality`: x264's scale from 1, the best, to 51. Throws
  /// video_error if the file cannot be created or there is no encoder.
  video_writer(std::string const& path, video_format const& format, int encoder_threads = 0,
               int quality = 20);
  /// Closes the file if `close` was not called; errors are then lost, and so is a video without frames. A forked
  /// child's copy does nothing.
  ~video_writer();
  video_writer(video_writer&&) noexcept;
  video_writer& operator=(video_writer&&) noexcept;

  /// Encodes one frame of the format's size. It is shown at `time_stamp` (in the format's ticks; the video begins at
  /// the first one) or, without it, one frame time after the last frame. Throws video_error if the file cannot be
  /// written (a full disk). After an error the writer is closed; what was written so far plays.
  void write(frame_view const& frame, std::optional<std::int64_t> time_stamp = {});

  /// Flushes the encoder and finishes the file; the second call does nothing. Throws video_error as `write`
  /// does.
  void close();

  /// The encoder's name: "libx264" or "mpeg4".
  std::string encoder() const;

 private:
  struct state;
  process_ptr<state> state_;
};

}  // namespace rondo::video
