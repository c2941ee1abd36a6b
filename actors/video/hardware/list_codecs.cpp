#include "actors/video/hardware/list_codecs.hpp"

#include <fmt/format.h>

#include "actors/video/hardware/decoder_choice.hpp"
#include "actors/video/hardware/encoder_hardware.hpp"
#include "actors/video/hardware/kept_reports.hpp"

namespace rondo::video {

std::string list_hardware_encoders() {
  std::string text = "hardware's encoders, as `codec`:\n";
  auto const all = ffmpeg::hardware_encoders();
  for (auto const* const encoder : all) {
    auto const why = ffmpeg::why_unusable(*encoder);
    text += fmt::format("  {:<16} {}\n", encoder->name, why.empty() ? "works here" : "not here: " + why);
  }
  return all.empty() ? "this FFmpeg has no encoders of hardware\n" : text;
}

std::string list_hardware_decoders() {
  std::string text;
  for (auto kind = av_hwdevice_iterate_types(AV_HWDEVICE_TYPE_NONE); kind != AV_HWDEVICE_TYPE_NONE;
       kind = av_hwdevice_iterate_types(kind)) {
    auto const codecs = ffmpeg::codecs_of(kind);
    if (codecs.empty()) continue;
    ffmpeg::kept_reports const reports;
    ffmpeg::buffer device;
    int const result = ffmpeg::open_device(kind, device);
    text += fmt::format(
        "  {:<16} {}\n", av_hwdevice_get_type_name(kind),
        result < 0 ? "not here: " + reports.why(result) : "a device is here; at most it decodes " + codecs);
  }
  return text.empty() ? "this FFmpeg has no decoders of hardware\n"
                      : "hardware's decoders, as `decoder`:\n" + text;
}

}  // namespace rondo::video
