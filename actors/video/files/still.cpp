#include "actors/video/files/still.hpp"

#include <fmt/format.h>

#include "actors/video/files/ffmpeg.hpp"
#include "runtime/files/part_file.hpp"
#include "runtime/text/shown_url.hpp"

namespace rondo::video {

namespace {

ffmpeg::frame to_rgb(std::string const& path, frame_view const& view, int colour_matrix) {
  int const w = view.y.width, h = view.y.height;
  ffmpeg::frame rgb(av_frame_alloc());
  if (!rgb) throw std::bad_alloc();
  rgb->format = AV_PIX_FMT_RGB24;
  rgb->width = w;
  rgb->height = h;
  ffmpeg::scaler const scaler(sws_getContext(w, h, AV_PIX_FMT_YUV420P, w, h, AV_PIX_FMT_RGB24,
                                             SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, nullptr,
                                             nullptr, nullptr));
  if (av_frame_get_buffer(rgb.get(), 0) < 0 || !scaler)
    throw video_error(fmt::format(
        "cannot write the picture '{}': a picture of {}x{} pixels cannot be created", shown_url(path), w, h));
  int const* const table = sws_getCoefficients(colour_matrix);
  sws_setColorspaceDetails(scaler.get(), table, 0, sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16,
                           1 << 16);
  ffmpeg::planes const from(view);
  sws_scale(scaler.get(), from.data, from.strides, 0, h, rgb->data, rgb->linesize);
  return rgb;
}

}  // namespace

void write_png(std::string const& path, frame_view const& frame, int colour_matrix) {
  ffmpeg::frame const rgb = to_rgb(path, frame, colour_matrix);
  AVCodec const* const codec = avcodec_find_encoder(AV_CODEC_ID_PNG);
  if (codec == nullptr)
    throw video_error(fmt::format("cannot write '{}': this FFmpeg has no PNG encoder", shown_url(path)));
  ffmpeg::codec_context const encoder(avcodec_alloc_context3(codec));
  ffmpeg::packet const packet(av_packet_alloc());
  if (!encoder || !packet) throw std::bad_alloc();
  encoder->width = rgb->width;
  encoder->height = rgb->height;
  encoder->pix_fmt = AV_PIX_FMT_RGB24;
  encoder->time_base = {1, 1};
  int result = avcodec_open2(encoder.get(), codec, nullptr);
  if (result >= 0) result = avcodec_send_frame(encoder.get(), rgb.get());
  if (result >= 0) result = avcodec_send_frame(encoder.get(), nullptr);
  if (result >= 0) result = avcodec_receive_packet(encoder.get(), packet.get());
  if (result < 0)
    throw video_error(
        fmt::format("cannot encode the picture '{}': {}", shown_url(path), ffmpeg::text(result)));

  try {
    write_output(path, {reinterpret_cast<char const*>(packet->data), static_cast<std::size_t>(packet->size)});
  } catch (std::runtime_error const& e) {
    throw video_error(fmt::format("cannot write the picture {}", e.what()));
  }
}

}  // namespace rondo::video
