// Reads the pictures of a video with their times, and its sound as packets. One opening serves both.
//
// Threads: one at a time. The decoder uses threads of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/video/ffmpeg/picture_conversion.hpp"
#include "actors/video/files/video_input.hpp"
#include "runtime/os/made_here.hpp"

namespace rondo::video {

/// What is wanted of a video.
struct reading {
  int threads = 1;               // of the decoder; 0: as many as it likes
  std::string decoder = "auto";  // or "hardware", or a name (actors/video/hardware/decoder_choice.hpp)
  picture_wishes pictures{};
  bool sound = false;       // its packets are kept until next_sound takes them
  double from = 0, to = 0;  // seconds of its time; to 0: its end
};

class video_reader {
 public:
  /// Opens the source, and decodes the first picture to see what it is. Throws video_open_error if the source is
  /// missing or cannot be opened, video_error if it is no video, or has no picture that can be decoded,
  /// video_device_error if this machine has no hardware for the decoder that was asked for.
  explicit video_reader(video_source const& source, reading const& how = {});
  /// A file.
  explicit video_reader(std::string const& file, int threads = 1)
      : video_reader(video_source{.name = file}, {.threads = threads}) {}
  ~video_reader();
  video_reader(video_reader&&) noexcept;
  video_reader& operator=(video_reader&&) noexcept;

  /// What its pictures are.
  image const& about() const;
  int width() const { return about().width; }
  int height() const { return about().height; }
  /// The size of the video's own pictures, as they are stored.
  int own_width() const;
  int own_height() const;
  /// What is lost when they become what `about` says, and what a viewer should know; empty: nothing.
  std::string remarks() const;

  /// Gets the next picture; false at the end, or where the source breaks off: see error. Throws
  /// video_device_error if a device that decodes fails.
  bool next();
  /// Copies it to `about().bytes()` bytes. Throws video_error.
  void get(std::byte* to) const;
  /// When it is to be shown, since the beginning of the source, or of what is read of it; each is later than the one
  /// before.
  std::uint64_t time_ns() const;
  /// For how long; 0: that is not known.
  std::uint64_t lasts_ns() const;

  /// The parameters of its sound; null: it has none.
  AVCodecParameters const* sound() const;
  /// The ticks of its packets.
  AVRational sound_tick() const;
  /// Moves the next packet that begins before this time, which is as time_ns; false: there is none. Reads on in the
  /// source as far as it needs to. Times of the packet are ticks since the source's beginning.
  bool next_sound(AVPacket& to, std::uint64_t before_ns);

  /// Pictures in the whole source, as its header says, or by its duration; 0: not known.
  std::int64_t frame_count_estimate() const;
  /// Why it ended early, or what was damaged; empty: all is well.
  std::string const& error() const;
  /// Whether it ended before its end.
  bool is_cut_short() const;
  /// Damaged packets, and pictures that were decoded with errors.
  std::int64_t damaged() const;

 private:
  struct state;
  process_ptr<state> state_;
};

}  // namespace rondo::video
