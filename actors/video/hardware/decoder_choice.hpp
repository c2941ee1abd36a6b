// Which decoders read a video: FFmpeg's usual one, or the hardware that was asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "actors/video/hardware/device_frames.hpp"

namespace rondo::video::ffmpeg {

struct decoder_choice {
  AVCodec const* codec = nullptr;
  AVHWDeviceType device = AV_HWDEVICE_TYPE_NONE;  // NONE: it opens what it needs by itself
  AVPixelFormat format = AV_PIX_FMT_NONE;         // of its pictures in the device's memory

  /// Such as "cuda"; of a decoder that is for hardware alone, its own: "h264_v4l2m2m".
  std::string name() const;
};

/// Whether `wanted` is a name for decoders_for; if not, the names are in `known`.
bool is_decoder_name(std::string const& wanted, std::string& known);

/// What to try, the best first; empty: there is none for this codec. `wanted`: "auto": `usual` alone; "hardware":
/// whatever hardware FFmpeg knows for the codec; the name of a kind of device, such as "cuda", "vaapi" or
/// "videotoolbox"; or that of a decoder.
std::vector<decoder_choice> decoders_for(std::string const& wanted, AVCodec const& usual);

/// The codecs that a kind of device may decode, with spaces between; empty: none.
std::string codecs_of(AVHWDeviceType kind);

/// Has a decoder give its pictures in the chosen device's memory. Must outlive the decoder.
class decoder_hardware {
 public:
  /// Opens the choice's device. Returns FFmpeg's error, or 0.
  int open(decoder_choice const& choice);
  /// Before the decoder is opened.
  void attach(AVCodecContext& decoder);
  /// The device does not decode this video.
  bool has_refused() const noexcept { return has_refused_; }
  /// From now on the processor decodes what the device does not.
  void begin() noexcept { has_begun_ = true; }

 private:
  static AVPixelFormat choose(AVCodecContext* decoder, AVPixelFormat const* offered);

  buffer device_;
  AVPixelFormat format_ = AV_PIX_FMT_NONE;
  bool has_refused_ = false, has_begun_ = false;
};

}  // namespace rondo::video::ffmpeg
