#include "actors/video/files/still.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "actors/video/ffmpeg/encoder_pictures.hpp"
#include "actors/video/ffmpeg/video_errors.hpp"
#include "runtime/files/part_file.hpp"
#include "runtime/text/shown_url.hpp"

namespace rondo::video {

namespace {

struct still_format {
  char const* ending;
  AVCodecID codec;
};
constexpr still_format formats[] = {
    {".png", AV_CODEC_ID_PNG}, {".jpg", AV_CODEC_ID_MJPEG}, {".jpeg", AV_CODEC_ID_MJPEG},
    {".bmp", AV_CODEC_ID_BMP}, {".tif", AV_CODEC_ID_TIFF},  {".tiff", AV_CODEC_ID_TIFF},
    {".ppm", AV_CODEC_ID_PPM},
};

AVCodecID codec_of(std::string const& path) {
  auto ending = std::filesystem::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ending.empty() || is_written_directly(path)) return AV_CODEC_ID_PNG;
  auto const found = std::ranges::find_if(formats, [&](auto const& f) { return ending == f.ending; });
  return found == std::end(formats) ? AV_CODEC_ID_NONE : found->codec;
}

}  // namespace

std::string why_no_still(std::string const& path) {
  if (codec_of(path) != AV_CODEC_ID_NONE) return {};
  return fmt::format(
      "the ending of '{}' is of no known format of pictures: use .png, .jpg, .bmp, .tiff or .ppm",
      shown_url(path));
}

void write_still(std::string const& path, image const& about, std::byte const* data) {
  auto const shown = shown_url(path);
  if (auto const why = why_no_still(path); !why.empty()) throw video_error(why);
  AVCodec const* const codec = avcodec_find_encoder(codec_of(path));
  if (codec == nullptr)
    throw video_error(fmt::format("cannot write '{}': this FFmpeg has no encoder for it", shown));
  encoder_pictures pictures(about, codec, path);
  auto const frame = pictures.make(data);
  ffmpeg::codec_context const encoder(avcodec_alloc_context3(codec));
  auto const packet = ffmpeg::new_packet();
  if (!encoder) throw std::bad_alloc();
  encoder->width = frame->width;
  encoder->height = frame->height;
  encoder->pix_fmt = pictures.format();
  encoder->time_base = {1, 1};
  ffmpeg::set_colours(*encoder, pictures.colours());
  encoder->sample_aspect_ratio = {about.aspect_num, std::max<int>(about.aspect_den, 1)};
  encoder->flags |= AV_CODEC_FLAG_QSCALE;
  encoder->global_quality = 2 * FF_QP2LAMBDA;  // of JPEG: nearly the best
  frame->quality = encoder->global_quality;
  int result = avcodec_open2(encoder.get(), codec, nullptr);
  if (result >= 0) result = avcodec_send_frame(encoder.get(), frame);
  if (result >= 0) result = avcodec_send_frame(encoder.get(), nullptr);
  if (result >= 0) result = avcodec_receive_packet(encoder.get(), packet.get());
  if (result < 0)
    throw video_error(fmt::format("cannot encode the picture '{}': {}", shown, ffmpeg::text(result)));
  try {
    write_output(path, {reinterpret_cast<char const*>(packet->data), static_cast<std::size_t>(packet->size)});
  } catch (std::runtime_error const& e) {
    throw video_error(fmt::format("cannot write the picture {}", e.what()));
  }
}

}  // namespace rondo::video
