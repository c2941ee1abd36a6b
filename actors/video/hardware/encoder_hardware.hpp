// Encoders of a GPU or other hardware, such as h264_nvenc and h264_vaapi: whether they work on this machine, and what
// they take.
//
// Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/video/hardware/device_frames.hpp"

namespace rondo::video::ffmpeg {

/// Whether a codec needs hardware beside the processor. A decoder that can do without is none.
bool is_hardware(AVCodec const& codec);

/// All video encoders of hardware that this FFmpeg has, in its order; those of one codec, if it is given.
std::vector<AVCodec const*> hardware_encoders(AVCodecID of = AV_CODEC_ID_NONE);
/// Of a name such as "h264_hardware", the codec's first encoder of hardware; null: it is no such name, or there is
/// none.
AVCodec const* any_hardware(std::string const& name);

/// Tries to open it for a small video. Empty: it works on this machine; else FFmpeg's reason.
std::string why_unusable(AVCodec const& encoder);

/// What is asked of an encoder; as `writing` has them (actors/video/files/video_writer.hpp).
struct wanted_quality {
  std::string preset;
  int quality = 20, bit_rate = 0;
};
/// Sets the quality and the preset by what this encoder of hardware calls them. `encoder` has its size and rate.
/// Returns what people should know; empty: nothing.
std::string set_hardware_quality(AVCodecContext& encoder, wanted_quality const& wanted,
                                 AVDictionary*& options);
/// `encoder` if it works on this machine; unless it alone will do, the codec's first one of hardware that does.
/// `file`: for messages. Throws video_device_error if none does, video_error if `encoder` has presets, but not this
/// one.
AVCodec const* usable_encoder(AVCodec const& encoder, bool alone, std::string const& preset,
                              std::string const& file);

/// How pictures come to an encoder of hardware: from the host's memory, or through its own.
class encoder_hardware {
 public:
  /// Opens its device, if it needs one. Returns FFmpeg's error, or 0.
  int open(AVCodec const& codec, image const& about);
  /// The format that pictures are to have; after `open`.
  AVPixelFormat host_format() const noexcept { return host_format_; }
  /// Tells an encoder that is to be opened what it gets.
  void attach(AVCodecContext& encoder) const;
  /// A picture for the encoder, of one of the host; valid until the next call. Returns FFmpeg's error, or 0.
  int give(AVFrame*& picture);

 private:
  AVPixelFormat host_format_ = AV_PIX_FMT_NONE, encoder_format_ = AV_PIX_FMT_NONE;
  std::optional<device_frames> frames_;
};

}  // namespace rondo::video::ffmpeg
