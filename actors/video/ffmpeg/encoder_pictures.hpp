// Pictures in the form that an encoder takes: its planes, its range of samples, with opacities if it has them.
//
// Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "actors/video/ffmpeg/filter_graph.hpp"

namespace rondo::video {

class encoder_pictures {
 public:
  /// Chooses what the codec takes that comes nearest to the pictures, unless `format` says it. `file`: for messages.
  /// Throws video_error.
  encoder_pictures(image const& about, AVCodec const* codec, std::string const& file,
                   AVPixelFormat format = AV_PIX_FMT_NONE);

  AVPixelFormat format() const noexcept { return format_; }
  /// What the samples mean that the encoder gets.
  colour_description const& colours() const noexcept { return colours_; }
  /// What is lost, for people; empty: nothing.
  std::string const& remarks() const noexcept { return remarks_; }

  /// The picture; the frame belongs to this object, and may be changed by the encoder alone. Throws video_error.
  AVFrame* make(std::byte const* data);

 private:
  void open_scaler(AVPixelFormat target);
  std::byte const* without_premultiplication(std::byte const* data);
  void make_palette(AVFrame& from);

  image about_;
  std::string file_;
  AVPixelFormat format_;
  colour_description colours_;
  bool keeps_opacities_ = false;
  std::string remarks_;
  ffmpeg::frame frame_;
  ffmpeg::scaler scaler_;         // null: planes are copied
  std::vector<std::byte> plain_;  // i420a, without premultiplication
  ffmpeg::filter_graph palette_;  // of GIF: each picture has its own 256 colours
  ffmpeg::frame coloured_;
};

}  // namespace rondo::video
