// FFmpeg's objects as owned handles, its error numbers as text, and what its frames and an `image` say of each other.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <cstdint>
#include <memory>
#include <string>

#include "actors/video/pixels/image.hpp"

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
using filters = std::unique_ptr<AVFilterGraph, freed_by<avfilter_graph_free>>;
using parameters = std::unique_ptr<AVCodecParameters, freed_by<avcodec_parameters_free>>;

/// Throws std::bad_alloc.
inline frame new_frame() {
  frame f(av_frame_alloc());
  if (!f) throw std::bad_alloc();
  return f;
}
inline packet new_packet() {
  packet p(av_packet_alloc());
  if (!p) throw std::bad_alloc();
  return p;
}

/// FFmpeg's text for an error number.
inline std::string text(int error) {
  char buffer[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, buffer, sizeof buffer);
  return buffer;
}

inline constexpr AVRational nanoseconds{1, 1'000'000'000};

/// Where the planes of a picture lie, in the form that FFmpeg takes.
struct plane_pointers {
  plane_pointers(image const& about, std::byte const* at) {
    auto const p = planes_at(about, at);
    for (int i = 0; i < 4; ++i) data[i] = p.of[i].data, strides[i] = p.of[i].stride;
  }

  std::uint8_t* data[4];
  int strides[4];
};

/// FFmpeg's format of a picture's planes. Those of i420a are premultiplied, which FFmpeg's are not.
inline AVPixelFormat format_of(pixel_format f) {
  return f == pixel_format::i420    ? AV_PIX_FMT_YUV420P
         : f == pixel_format::i420a ? AV_PIX_FMT_YUVA420P
                                    : AV_PIX_FMT_YUV420P10;
}

/// Whether samples go from 0 to their most: the formats with a J do, whatever else is said, as do grey ones.
inline bool is_full(int format, AVColorRange said) {
  switch (format) {
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ444P:
    case AV_PIX_FMT_YUVJ440P:
    case AV_PIX_FMT_YUVJ411P:
      return true;
    default:
      return said == AVCOL_RANGE_JPEG;
  }
}
inline bool is_rgb(int format) {
  auto const* const d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(format));
  return d != nullptr && (d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0;
}
inline bool is_grey(int format) {
  auto const* const d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(format));
  return d != nullptr && d->nb_components <= 2 && !is_rgb(format);
}

/// The number that swscale has for a matrix.
inline int coefficients_of(colour_description const& c) { return c.matrix == 2 ? SWS_CS_DEFAULT : c.matrix; }

/// Tells a codec, or a frame, what samples mean.
template <class T>
void set_colours(T& to, colour_description const& c) {
  to.color_primaries = static_cast<AVColorPrimaries>(c.primaries);
  to.color_trc = static_cast<AVColorTransferCharacteristic>(c.transfer);
  to.colorspace = static_cast<AVColorSpace>(c.matrix);
  to.color_range = c.is_full != 0 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
}

}  // namespace rondo::video::ffmpeg
