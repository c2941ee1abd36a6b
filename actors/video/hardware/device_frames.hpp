// Pictures in the memory of a device that FFmpeg knows, such as VAAPI's: the way there, and the way back.
//
// Results are FFmpeg's: negative numbers are errors.
// Threads: one at a time.
#pragma once

#include <span>

#include "actors/video/ffmpeg/ffmpeg.hpp"

extern "C" {
#include <libavutil/hwcontext.h>
}

namespace rondo::video::ffmpeg {

using buffer = std::unique_ptr<AVBufferRef, freed_by<av_buffer_unref>>;

/// Opens the machine's first device of a kind. `to` is null after an error.
int open_device(AVHWDeviceType kind, buffer& to);

/// Whether a format is one of a device's memory.
inline bool is_on_device(AVPixelFormat format) {
  auto const* const d = av_pix_fmt_desc_get(format);
  return d != nullptr && (d->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0;
}

/// Frames on a device, made of those of the host.
class device_frames {
 public:
  /// Opens the device for frames of a format of its memory. Those of the host have the first of `wanted` that the
  /// device takes.
  int open(AVHWDeviceType kind, AVPixelFormat on_device, std::span<AVPixelFormat const> wanted, int width,
           int height);

  /// Of the frames that `upload` takes; after `open`.
  AVPixelFormat host_format() const noexcept { return host_format_; }
  /// For the codec that is to take them; owned by this object.
  AVBufferRef* frames() const noexcept { return frames_.get(); }

  /// Copies a frame, and what is said of it, into the device's memory. `to` is valid until the next call.
  int upload(AVFrame const& from, AVFrame*& to);

 private:
  AVPixelFormat host_format_ = AV_PIX_FMT_NONE;
  buffer frames_;
  frame uploaded_;
};

/// A frame in a device's memory becomes one in the host's, and loses what its crop leaves out; others stay as they are.
int download(AVFrame& frame);

}  // namespace rondo::video::ffmpeg
