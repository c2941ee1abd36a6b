// FFmpeg's objects as owned handles, and its error numbers as text.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libswscale/swscale.h>
}

#include <cstdint>
#include <memory>
#include <string>

#include "actors/video/pixels/image_view.hpp"

namespace rondo::video::ffmpeg {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* object) const {
    if constexpr (requires { Free(&object); })
      Free(&object);
    else
      Free(object);
  }
};

using frame = std::unique_ptr<AVFrame, freed_by<av_frame_free>>;
using packet = std::unique_ptr<AVPacket, freed_by<av_packet_free>>;
using codec_context = std::unique_ptr<AVCodecContext, freed_by<avcodec_free_context>>;
using input = std::unique_ptr<AVFormatContext, freed_by<avformat_close_input>>;
using scaler = std::unique_ptr<SwsContext, freed_by<sws_freeContext>>;

/// FFmpeg's text for an error number.
inline std::string text(int error) {
  char buffer[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, buffer, sizeof buffer);
  return buffer;
}

/// The planes of an 8-bit 4:2:0 picture, in the form that FFmpeg takes.
struct planes {
  explicit planes(frame_view const& of)
      : data{of.y.data, of.u.data, of.v.data, nullptr}, strides{of.y.stride, of.u.stride, of.v.stride, 0} {}

  std::uint8_t* data[4];
  int strides[4];
};

}  // namespace rondo::video::ffmpeg
