// Fills frames of sound (pixels/sound.hpp) from a video's packets: as they are, or decoded to samples.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/video/ffmpeg/ffmpeg.hpp"
#include "actors/video/ffmpeg/packet_queue.hpp"
#include "actors/video/pixels/sound.hpp"

extern "C" {
#include <libswresample/swresample.h>
}

namespace rondo::video {

class video_reader;

/// What frames of sound will be: packets, or samples; `channels` 0: the video has none.
sound sound_of(video_reader const& from, bool as_packets);

class sound_feed {
 public:
  explicit sound_feed(sound const& about);

  /// Takes what the video has before this time, moved by `offset_ns`. Throws video_error.
  void read(video_reader& from, std::uint64_t before_ns, std::uint64_t offset_ns);
  /// Whether something waits to be given.
  bool has_any() const noexcept { return about_.codec != 0 ? !packets_.empty() : samples_ != 0; }
  /// Fills a block of about().bytes() bytes with as much as fits.
  void fill(std::byte* to);
  /// Drops what waits.
  void clear();

 private:
  using resampler = std::unique_ptr<SwrContext, ffmpeg::freed_by<swr_free>>;
  void decode(video_reader const& from, AVPacket const* packet, std::uint64_t offset_ns);

  sound about_;
  packet_queue packets_;
  ffmpeg::codec_context decoder_;
  resampler resampler_;
  std::vector<std::vector<float>> channels_;  // samples that wait
  std::size_t samples_ = 0;                   // of each
  std::uint64_t time_ns_ = 0;                 // of the first of them
  ffmpeg::packet packet_ = ffmpeg::new_packet();
  ffmpeg::frame frame_ = ffmpeg::new_frame();
  bool is_over_ = false;
};

}  // namespace rondo::video
