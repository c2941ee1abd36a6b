// FFmpeg's objects as owned handles, and its error numbers as text.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "actors/overlay/image_view.hpp"

namespace rondo::tools::ffmpeg {

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

/// Copies the three planes of an 8-bit 4:2:0 picture, in the size of `to`.
inline void copy_planes(AVFrame const& from, overlay::frame_view const& to) {
  overlay::image_view<std::uint8_t> const planes[3] = {to.y, to.u, to.v};
  for (int p = 0; p < 3; ++p)
    for (int r = 0; r < planes[p].height; ++r)
      std::copy_n(from.data[p] + static_cast<std::ptrdiff_t>(r) * from.linesize[p], planes[p].width,
                  planes[p].row(r));
}

}  // namespace rondo::tools::ffmpeg
