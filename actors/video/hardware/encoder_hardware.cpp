#include "actors/video/hardware/encoder_hardware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "actors/video/ffmpeg/video_errors.hpp"
#include "actors/video/hardware/kept_reports.hpp"

extern "C" {
#include <libavutil/opt.h>
}

namespace rondo::video::ffmpeg {

namespace {

/// How its pictures lie in a device's memory, if it takes no others.
AVCodecHWConfig const* needs_frames(AVCodec const& encoder) {
  if (encoder.pix_fmts == nullptr) return nullptr;
  for (auto const* f = encoder.pix_fmts; *f != AV_PIX_FMT_NONE; ++f)
    if (!is_on_device(*f)) return nullptr;
  for (int i = 0;; ++i) {
    auto const* const c = avcodec_get_hw_config(&encoder, i);
    if (c == nullptr || (c->methods & AV_CODEC_HW_CONFIG_METHOD_HW_FRAMES_CTX) != 0) return c;
  }
}

/// The kind of device that an encoder opens by itself; NONE: that is not known.
AVHWDeviceType opens_device(AVCodec const& encoder) {
  for (int i = 0;; ++i) {
    auto const* const c = avcodec_get_hw_config(&encoder, i);
    if (c == nullptr) return AV_HWDEVICE_TYPE_NONE;
    if ((c->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX) != 0) return c->device_type;
  }
}

bool takes_ten_bits(AVCodecID id) {
  return id == AV_CODEC_ID_HEVC || id == AV_CODEC_ID_VP9 || id == AV_CODEC_ID_AV1;
}

/// Formats for its pictures, the best first: a device's memory mostly has brightness, and colours pair by pair.
std::vector<AVPixelFormat> wanted_formats(AVCodecID id, image const& about, bool on_device) {
  std::vector<AVPixelFormat> all;
  if (about.format == pixel_format::i420_10 && takes_ten_bits(id))
    all = {AV_PIX_FMT_P010, AV_PIX_FMT_YUV420P10};
  if (on_device)
    all.insert(all.end(), {AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P});
  else
    all.insert(all.end(), {AV_PIX_FMT_YUV420P, AV_PIX_FMT_NV12});
  return all;
}

AVOption const* option_of(AVCodec const& codec, char const* name) {
  if (codec.priv_class == nullptr) return nullptr;
  AVClass const* kind = codec.priv_class;
  auto const* const o = av_opt_find(&kind, name, nullptr, 0, AV_OPT_SEARCH_FAKE_OBJ);
  return o != nullptr && o->type != AV_OPT_TYPE_CONST ? o : nullptr;
}

/// x264's scale on that of VAAPI, which is each codec's own.
int vaapi_quality(AVCodecID id, int q) {
  switch (id) {
    case AV_CODEC_ID_VP8:
      return q * 127 / 51;
    case AV_CODEC_ID_VP9:
    case AV_CODEC_ID_AV1:
      return q * 255 / 51;
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
      return std::clamp(q * 3 / 20, 1, 31);
    default:
      return q;
  }
}

/// Of an encoder that knows no quality: a tenth of a bit for each pixel at 20, half of it 6 further.
std::int64_t bit_rate_for(AVCodecContext const& encoder, int quality) {
  double const rate = encoder.framerate.num > 0 ? av_q2d(encoder.framerate) : 30;
  double const bits = 0.1 * encoder.width * encoder.height * rate * std::exp2((20.0 - quality) / 6);
  return 1000 * std::llround(std::clamp(bits / 1000, 100.0, 400'000.0));
}

/// The names of an encoder's presets, if `preset` is not one of them.
std::string presets_without(AVCodec const& encoder, std::string const& preset) {
  auto const* const found = option_of(encoder, "preset");
  if (preset.empty() || found == nullptr || found->unit == nullptr) return {};
  std::string names;
  AVClass const* kind = encoder.priv_class;
  AVOption const* o = nullptr;
  while ((o = av_opt_next(&kind, o)) != nullptr) {
    if (o->type != AV_OPT_TYPE_CONST || o->unit == nullptr || std::strcmp(o->unit, found->unit) != 0)
      continue;
    if (preset == o->name) return {};
    names += (names.empty() ? "" : ", ") + std::string(o->name);
  }
  return names;
}

/// The name of an encoder for the processor; empty: there is none.
std::string encoder_without_hardware(AVCodecID of) {
  void* at = nullptr;
  while (auto const* const c = av_codec_iterate(&at))
    if (av_codec_is_encoder(c) != 0 && c->id == of && !is_hardware(*c) &&
        (c->capabilities & AV_CODEC_CAP_EXPERIMENTAL) == 0)
      return c->name;
  return {};
}

}  // namespace

bool is_hardware(AVCodec const& codec) {
  if ((codec.capabilities & (AV_CODEC_CAP_HARDWARE | AV_CODEC_CAP_HYBRID)) != 0) return true;
  if (std::string_view(codec.name).ends_with("_omx")) return true;  // OpenMAX, which FFmpeg does not mark
  return av_codec_is_encoder(&codec) != 0 && avcodec_get_hw_config(&codec, 0) != nullptr;
}

std::vector<AVCodec const*> hardware_encoders(AVCodecID of) {
  std::vector<AVCodec const*> all;
  void* at = nullptr;
  while (auto const* const c = av_codec_iterate(&at))
    if (av_codec_is_encoder(c) != 0 && c->type == AVMEDIA_TYPE_VIDEO && is_hardware(*c) &&
        (of == AV_CODEC_ID_NONE || of == c->id))
      all.push_back(c);
  return all;
}

std::string why_unusable(AVCodec const& encoder) {
  kept_reports const reports;
  image const small{640, 480};
  encoder_hardware hardware;
  int result = hardware.open(encoder, small);
  if (auto const kind = opens_device(encoder); result >= 0 && kind != AV_HWDEVICE_TYPE_NONE) {
    buffer device;  // without it, FFmpeg 5.1 fails later, and mjpeg_qsv then leaks memory
    result = open_device(kind, device);
  }
  if (result < 0) return reports.why(result);
  codec_context const tried(avcodec_alloc_context3(&encoder));
  if (!tried) throw std::bad_alloc();
  tried->width = small.width;
  tried->height = small.height;
  tried->time_base = {1, 25};
  tried->framerate = {25, 1};
  tried->max_b_frames = 0;
  if (encoder.id == AV_CODEC_ID_MJPEG) tried->color_range = AVCOL_RANGE_JPEG;
  hardware.attach(*tried);
  AVDictionary* options = nullptr;
  set_hardware_quality(*tried, {}, options);
  result = avcodec_open2(tried.get(), &encoder, &options);
  av_dict_free(&options);
  return result < 0 ? reports.why(result) : std::string();
}

std::string set_hardware_quality(AVCodecContext& encoder, wanted_quality const& wanted,
                                 AVDictionary*& options) {
  auto const& codec = *encoder.codec;
  std::string_view const by = codec.wrapper_name != nullptr ? codec.wrapper_name : "";
  auto const set = [&options](char const* key, std::string const& value) {
    av_dict_set(&options, key, value.c_str(), 0);
  };
  // On the scale that the option has.
  auto const set_scaled = [&](char const* key) {
    if (auto const* const o = option_of(codec, key); o != nullptr)
      set(key, std::to_string(std::lround(wanted.quality * o->max / 51)));
  };
  // One that was not named may have other presets.
  if (!wanted.preset.empty() && option_of(codec, "preset") != nullptr &&
      presets_without(codec, wanted.preset).empty())
    set("preset", wanted.preset);
  int const lossy = std::max(wanted.quality, 1);
  if (wanted.bit_rate > 0) {
    encoder.bit_rate = std::int64_t{wanted.bit_rate} * 1000;
  } else if (option_of(codec, "cq") != nullptr) {  // NVENC
    encoder.bit_rate = 0;
    if (wanted.quality == 0) {
      set("tune", "lossless");
    } else {
      set("rc", "vbr");
      set_scaled("cq");
    }
  } else if (option_of(codec, "qp_i") != nullptr) {  // AMF
    set("rc", "cqp");
    for (auto const* const key : {"qp_i", "qp_p", "qp_b"}) set_scaled(key);
  } else if (by == "vaapi" || by == "qsv") {
    encoder.global_quality = codec.id == AV_CODEC_ID_MJPEG ? 100 - lossy  // per cent
                             : by == "vaapi"               ? vaapi_quality(codec.id, lossy)
                                                           : lossy;
  } else if (by == "videotoolbox") {
    encoder.flags |= AV_CODEC_FLAG_QSCALE;
    encoder.global_quality = (102 - 2 * lossy) * FF_QP2LAMBDA;  // per cent
  } else {
    encoder.bit_rate = bit_rate_for(encoder, lossy);
    return fmt::format("{} has no quality: it gets {} thousand bits per second; `bit_rate` sets others",
                       codec.name, encoder.bit_rate / 1000);
  }
  return {};
}

AVCodec const* any_hardware(std::string const& name) {
  constexpr std::string_view ending = "_hardware";
  if (!name.ends_with(ending)) return nullptr;
  auto const* const of = avcodec_descriptor_get_by_name(name.substr(0, name.size() - ending.size()).c_str());
  if (of == nullptr) return nullptr;
  auto const all = hardware_encoders(of->id);
  return all.empty() ? nullptr : all.front();
}

AVCodec const* usable_encoder(AVCodec const& encoder, bool alone, std::string const& preset,
                              std::string const& file) {
  if (auto const presets = presets_without(encoder, preset); alone && !presets.empty())
    throw video_error(
        fmt::format("cannot write '{}': {} has no preset '{}', but {}", file, encoder.name, preset, presets));
  std::string reasons;
  for (auto const* const tried :
       alone ? std::vector<AVCodec const*>{&encoder} : hardware_encoders(encoder.id)) {
    auto const why = why_unusable(*tried);
    if (why.empty()) return tried;
    reasons += alone ? why : fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", tried->name, why);
  }
  auto const other = encoder_without_hardware(encoder.id);
  throw video_device_error(fmt::format(
      "cannot write '{}': this machine has no hardware that {} can use ({}); leave out `codec`{}{}", file,
      alone ? encoder.name : fmt::format("an encoder for {}", avcodec_get_name(encoder.id)), reasons,
      other.empty() ? "" : ", or use ", other));
}

int encoder_hardware::open(AVCodec const& codec, image const& about) {
  frames_.reset();
  auto const* const device = needs_frames(codec);
  auto const wanted = wanted_formats(codec.id, about, device != nullptr);
  if (device != nullptr) {
    int const result =
        frames_.emplace().open(device->device_type, device->pix_fmt, wanted, about.width, about.height);
    host_format_ = frames_->host_format();
    encoder_format_ = device->pix_fmt;
    return result;
  }
  auto const is_taken = [&](AVPixelFormat f) {
    if (codec.pix_fmts == nullptr) return av_pix_fmt_desc_get(f)->comp[0].depth == 8;
    for (auto const* t = codec.pix_fmts; *t != AV_PIX_FMT_NONE; ++t)
      if (*t == f) return true;
    return false;
  };
  auto const found = std::ranges::find_if(wanted, is_taken);
  if (found == wanted.end()) return AVERROR(ENOSYS);
  host_format_ = encoder_format_ = *found;
  return 0;
}

void encoder_hardware::attach(AVCodecContext& encoder) const {
  encoder.pix_fmt = encoder_format_;
  // The rate control of some takes the ticks for it otherwise.
  if (encoder.framerate.num == 0) encoder.framerate = {30, 1};
  if (!frames_) return;
  encoder.hw_frames_ctx = av_buffer_ref(frames_->frames());
  if (encoder.hw_frames_ctx == nullptr) throw std::bad_alloc();
}

int encoder_hardware::give(AVFrame*& picture) { return frames_ ? frames_->upload(*picture, picture) : 0; }

}  // namespace rondo::video::ffmpeg
