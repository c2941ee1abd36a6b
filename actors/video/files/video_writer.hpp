// Writes pictures, and sound, as a video file. The name's ending says which container, and that which codec, unless the
// caller does.
//
// It is written as NAME.part, and gets its name when it is closed, also after a failure (runtime/files/part_file.hpp).
// MP4 and MOV are written in fragments, and MKV and WebM in clusters: if the process is killed, what was written up to
// the last key picture plays as NAME.part. When it is closed, fragments become one whole file (whole_mp4.hpp).
// Threads: one at a time. The encoder uses threads of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "actors/video/ffmpeg/video_errors.hpp"
#include "actors/video/pixels/image.hpp"
#include "actors/video/pixels/sound.hpp"
#include "runtime/os/made_here.hpp"

namespace rondo::video {

/// What the name of a video to write stands for.
enum class video_name {
  file,     // that file, whatever its name; "-" for standard output
  url,      // a server that FFmpeg knows, such as tcp://host:port
  pattern,  // numbered pictures, such as frame%04d.png
};

/// How a video is written.
struct writing {
  std::string container{};  // FFmpeg's name, such as matroska; empty: by the name's ending
  /// FFmpeg's name of a codec or an encoder; "h264_hardware" and so on: the first encoder of hardware that works;
  /// empty: the container's usual one.
  std::string codec{};
  std::string preset{};  // of x264, x265 and so on; empty: veryfast, or what the hardware's encoder likes
  int quality = 20;      // x264's scale from 1, the best, to 51; 0: without loss, where the codec can
  int bit_rate = 0;      // thousand bits per second, in place of the quality; 0: none
  int key_every = 0;     // pictures between key pictures, at most; 0: those of two seconds
  int threads = 0;       // of the encoder; 0: as many as it likes
  bool low_memory =
      false;  // the encoder looks ahead at no pictures, which saves memory, and makes larger files
  video_name of = video_name::file;
  std::function<void(std::string const&)> remark{};  // gets what the file cannot hold, once each
};

/// When a picture is shown, since the beginning.
struct shown_time {
  std::uint64_t time_ns = 0;
  std::uint64_t lasts_ns = 0;  // 0: until the next one
};

class video_writer {
 public:
  /// Creates `path`, or replaces it when the video is closed; "-" is standard output, as MP4 unless the container is
  /// named. Throws video_error if the file cannot be created, or the container or the codec is not known,
  /// video_device_error if the codec needs hardware that this machine does not have.
  video_writer(std::string const& path, writing how);
  /// Closes the file if `close` was not called; errors are then lost, and so is a video without frames. A forked
  /// child's copy does nothing.
  ~video_writer();
  video_writer(video_writer&&) noexcept;
  video_writer& operator=(video_writer&&) noexcept;

  /// Says what the file will hold, before the first picture. `heard`: null: no sound. Times of sound count from
  /// `begins_ns`. Throws video_error: the encoder does not take it, or the file cannot be written.
  void begin(image const& pictures, sound const* heard = nullptr, std::uint64_t begins_ns = 0);
  bool has_begun() const noexcept;
  /// Encodes a picture of the kind that `begin` was given. Pictures at a steady rate are shown exactly at it. Throws
  /// video_error if the file cannot be written (a full disk). After an error the writer is closed; what was written so
  /// far plays.
  void write(std::byte const* data, shown_time const& when);
  /// Writes a frame of sound (pixels/sound.hpp): packets as they are where the container holds their codec, else
  /// encoded. Throws as `write`.
  void write_sound(std::byte const* data);
  /// What was written so far is in the file, and plays. Throws as `write`.
  void flush();
  /// Flushes the encoder and finishes the file; the second call does nothing. Throws as `write`.
  void close();

  /// The encoder's name, such as "libx264"; after `begin`.
  std::string encoder() const;

 private:
  struct state;
  process_ptr<state> state_;
};

}  // namespace rondo::video
