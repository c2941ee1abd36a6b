// The sound of a file that is written: packets as they came, where the container holds their codec; else encoded.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "actors/video/ffmpeg/ffmpeg.hpp"
#include "actors/video/pixels/sound.hpp"

extern "C" {
#include <libavutil/audio_fifo.h>
#include <libswresample/swresample.h>
}

namespace rondo::video {

class sound_track {
 public:
  using write_packet = std::function<void(AVPacket&, AVStream&, AVRational tick)>;

  /// Adds a stream to the output. `remark` is told if the sound is encoded again. Throws video_error.
  sound_track(AVFormatContext& output, sound const& about, std::string file,
              std::function<void(std::string const&)> const& remark);

  /// Writes what a frame of sound holds. Throws video_error, and what `write` throws.
  void write(std::byte const* data, write_packet const& write);
  /// What the encoder still has.
  void finish(write_packet const& write);

 private:
  using fifo = std::unique_ptr<AVAudioFifo, ffmpeg::freed_by<av_audio_fifo_free>>;
  using resampler = std::unique_ptr<SwrContext, ffmpeg::freed_by<swr_free>>;

  void open_encoder(AVFormatContext& output, AVChannelLayout const& layout, int rate);
  void take(AVFrame const& samples, std::int64_t time_ns, write_packet const& write);
  void encode(bool all, write_packet const& write);
  void check(char const* what, int result) const;

  sound about_;
  std::string file_;
  AVStream* stream_ = nullptr;
  AVRational tick_{};              // of the packets that come
  ffmpeg::codec_context decoder_;  // null: nothing is decoded
  ffmpeg::codec_context encoder_;  // null: packets pass as they are
  resampler resampler_;
  fifo waiting_;
  ffmpeg::packet packet_ = ffmpeg::new_packet();
  ffmpeg::frame frame_ = ffmpeg::new_frame();
  std::int64_t next_ = 0;  // the next sample's number, at the encoder's rate
  bool has_begun_ = false;
};

}  // namespace rondo::video
