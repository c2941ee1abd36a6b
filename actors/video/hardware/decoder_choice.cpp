#include "actors/video/hardware/decoder_choice.hpp"

#include <algorithm>

#include "actors/video/hardware/encoder_hardware.hpp"

namespace rondo::video::ffmpeg {

namespace {

/// `use` gets each video decoder.
void each_decoder(auto const& use) {
  void* at = nullptr;
  while (auto const* const c = av_codec_iterate(&at))
    if (av_codec_is_decoder(c) != 0 && c->type == AVMEDIA_TYPE_VIDEO) use(*c);
}

/// `use` gets each kind of device that a decoder works with.
void each_device(AVCodec const& decoder, auto const& use) {
  for (int i = 0;; ++i) {
    auto const* const c = avcodec_get_hw_config(&decoder, i);
    if (c == nullptr) return;
    if ((c->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX) != 0 && c->pix_fmt != AV_PIX_FMT_NONE) use(*c);
  }
}

}  // namespace

std::string decoder_choice::name() const {
  return device != AV_HWDEVICE_TYPE_NONE && !is_hardware(*codec) ? av_hwdevice_get_type_name(device)
                                                                 : codec->name;
}

std::string codecs_of(AVHWDeviceType kind) {
  std::vector<std::string> names;
  each_decoder([&](AVCodec const& c) {
    each_device(c, [&](AVCodecHWConfig const& d) {
      std::string const name = avcodec_get_name(c.id);
      if (d.device_type == kind && std::ranges::find(names, name) == names.end()) names.push_back(name);
    });
  });
  std::string text;
  for (auto const& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

bool is_decoder_name(std::string const& wanted, std::string& known) {
  if (wanted == "auto" || wanted == "hardware") return true;
  known = "auto, hardware";
  for (auto kind = av_hwdevice_iterate_types(AV_HWDEVICE_TYPE_NONE); kind != AV_HWDEVICE_TYPE_NONE;
       kind = av_hwdevice_iterate_types(kind)) {
    if (codecs_of(kind).empty()) continue;
    std::string const name = av_hwdevice_get_type_name(kind);
    if (wanted == name) return true;
    known += ", " + name;
  }
  // Those of other systems are names, too.
  if (av_hwdevice_find_type_by_name(wanted.c_str()) != AV_HWDEVICE_TYPE_NONE) return true;
  auto const* const c = avcodec_find_decoder_by_name(wanted.c_str());
  return c != nullptr && c->type == AVMEDIA_TYPE_VIDEO;
}

std::vector<decoder_choice> decoders_for(std::string const& wanted, AVCodec const& usual) {
  if (wanted.empty() || wanted == "auto") return {{&usual}};
  bool const any = wanted == "hardware";
  auto const kind = av_hwdevice_find_type_by_name(wanted.c_str());
  std::vector<decoder_choice> all;
  auto const add_devices = [&](AVCodec const& c) {
    each_device(c, [&](AVCodecHWConfig const& d) {
      if (any || d.device_type == kind) all.push_back({&c, d.device_type, d.pix_fmt});
    });
  };
  if (any || kind != AV_HWDEVICE_TYPE_NONE) {
    add_devices(usual);
    each_decoder([&](AVCodec const& c) {
      if (c.id == usual.id && &c != &usual) add_devices(c);
    });
    if (any)  // such as those of V4L2
      each_decoder([&](AVCodec const& c) {
        if (c.id == usual.id && is_hardware(c) &&
            std::ranges::find(all, &c, &decoder_choice::codec) == all.end())
          all.push_back({&c});
      });
    return all;
  }
  auto const* const named = avcodec_find_decoder_by_name(wanted.c_str());
  if (named == nullptr || named->id != usual.id) return {};
  if (is_hardware(*named))
    each_device(*named, [&](AVCodecHWConfig const& d) { all.push_back({named, d.device_type, d.pix_fmt}); });
  if (all.empty()) all.push_back({named});
  return all;
}

int decoder_hardware::open(decoder_choice const& choice) {
  has_refused_ = has_begun_ = false;
  format_ = choice.format;
  device_.reset();
  return choice.device == AV_HWDEVICE_TYPE_NONE ? 0 : open_device(choice.device, device_);
}

void decoder_hardware::attach(AVCodecContext& decoder) {
  if (!device_) return;
  decoder.hw_device_ctx = av_buffer_ref(device_.get());
  if (decoder.hw_device_ctx == nullptr) throw std::bad_alloc();
  decoder.opaque = this;
  decoder.get_format = choose;
  decoder.thread_count = 1;  // more would only wait for the device
}

/// FFmpeg asks again, without the device's format, if the device does not take the video.
AVPixelFormat decoder_hardware::choose(AVCodecContext* decoder, AVPixelFormat const* offered) {
  auto& self = *static_cast<decoder_hardware*>(decoder->opaque);
  for (auto const* f = offered; *f != AV_PIX_FMT_NONE; ++f)
    if (*f == self.format_) return *f;
  if (!self.has_begun_) {
    self.has_refused_ = true;
    return AV_PIX_FMT_NONE;
  }
  for (auto const* f = offered; *f != AV_PIX_FMT_NONE; ++f)
    if (!is_on_device(*f)) return *f;
  return AV_PIX_FMT_NONE;
}

}  // namespace rondo::video::ffmpeg
