#include "tests/streams/clips.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <stdexcept>
#include <utility>

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/display.h>
#include <libavutil/mastering_display_metadata.h>
}

namespace clip_test {

namespace {

int check(int result, char const* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + ffmpeg::text(result));
  return result;
}

/// Brings a value of one 8-bit scale to a component's depth.
void put(AVFrame& f, int component, int x, int y, double value) {
  auto const& d = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(f.format));
  auto const& c = d.comp[component];
  auto* const at = f.data[c.plane] + y * f.linesize[c.plane] + x * c.step + c.offset;
  auto const scaled = static_cast<unsigned>(std::lround(value * (1 << (c.depth - 8))));
  if (c.depth > 8) {
    auto const wide = static_cast<std::uint16_t>(scaled);
    std::memcpy(at, &wide, 2);
  } else {
    *at = static_cast<std::uint8_t>(std::min(scaled, 255u));
  }
}
double get(AVFrame const& f, int component, int x, int y) {
  auto const& d = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(f.format));
  if (component >= d.nb_components) return component == 3 ? 255 : 0;
  auto const& c = d.comp[component];
  bool const shrinks = (component == 1 || component == 2) && (d.flags & AV_PIX_FMT_FLAG_RGB) == 0;
  if (shrinks) x >>= d.log2_chroma_w, y >>= d.log2_chroma_h;
  auto const* const at = f.data[c.plane] + y * f.linesize[c.plane] + x * c.step + c.offset;
  std::uint16_t wide = *at;
  if (c.depth > 8) std::memcpy(&wide, at, 2);
  return static_cast<double>(wide) / (1 << (c.depth - 8));
}

void paint(AVFrame& f, recipe const& r, int number) {
  auto const& d = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(f.format));
  bool const rgb = (d.flags & AV_PIX_FMT_FLAG_RGB) != 0;
  for (int c = 0; c < d.nb_components; ++c) {
    bool const half = !rgb && (c == 1 || c == 2);
    int const w = half ? AV_CEIL_RSHIFT(f.width, d.log2_chroma_w) : f.width;
    int const h = half ? AV_CEIL_RSHIFT(f.height, d.log2_chroma_h) : f.height;
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        auto const& p = patches[std::min(y * 3 / h, 2) * 3 + std::min(x * 3 / w, 2)];
        auto const s = samples_of(p, r.colours);
        double const yuv[] = {s.y, s.u, s.v, static_cast<double>(r.opacity)};
        double const as_rgb[] = {double(p.r), double(p.g), double(p.b), static_cast<double>(r.opacity)};
        put(f, c, x, y, rgb ? as_rgb[c] : yuv[c]);
      }
  }
  // Something that moves, in the last row.
  for (int x = 0; x < 8; ++x) put(f, 0, (number * 4 + x) % f.width, f.height - 1, 200);
}

struct encoder {
  ffmpeg::codec_context context;
  AVStream* stream;
};

void drain(encoder& e, AVFormatContext& out, AVFrame const* f,
           std::map<std::int64_t, std::int64_t> const* lasts) {
  check(avcodec_send_frame(e.context.get(), f), "encode");
  auto const p = ffmpeg::new_packet();
  while (avcodec_receive_packet(e.context.get(), p.get()) == 0) {
    if (lasts != nullptr)
      if (auto const known = lasts->find(p->pts); known != lasts->end()) p->duration = known->second;
    av_packet_rescale_ts(p.get(), e.context->time_base, e.stream->time_base);
    p->stream_index = e.stream->index;
    check(av_interleaved_write_frame(&out, p.get()), "write");
  }
}

}  // namespace

samples samples_of(patch const& p, colour_description const& of) {
  double const kr = of.matrix == 1 ? 0.2126 : of.matrix == 9 ? 0.2627 : 0.299;
  double const kb = of.matrix == 1 ? 0.0722 : of.matrix == 9 ? 0.0593 : 0.114;
  double const y = kr * p.r + (1 - kr - kb) * p.g + kb * p.b;
  double const u = (p.b - y) / (2 * (1 - kb)), v = (p.r - y) / (2 * (1 - kr));
  if (of.is_full != 0) return {y, 128 + u, 128 + v};
  return {16 + y * 219 / 255, 128 + u * 224 / 255, 128 + v * 224 / 255};
}

void make(recipe const& r) {
  av_log_set_level(AV_LOG_FATAL);
  AVFormatContext* raw = nullptr;
  check(avformat_alloc_output_context2(&raw, nullptr, nullptr, r.file.c_str()), "container");
  std::unique_ptr<AVFormatContext, ffmpeg::freed_by<avformat_free_context>> const out(raw);
  auto const open = [&](AVCodec const* codec) {
    if (codec == nullptr) throw std::runtime_error("no such encoder");
    encoder e{ffmpeg::codec_context(avcodec_alloc_context3(codec)), avformat_new_stream(out.get(), nullptr)};
    if ((out->oformat->flags & AVFMT_GLOBALHEADER) != 0) e.context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    return e;
  };
  auto video = open(avcodec_find_encoder_by_name(r.codec));
  auto& v = *video.context;
  v.width = r.width;
  v.height = r.height;
  v.pix_fmt = r.format;
  bool const varies = !r.times.empty();
  v.time_base = varies ? AVRational{1, 90'000} : av_inv_q(r.rate);
  if (!varies) v.framerate = r.rate;
  v.sample_aspect_ratio = r.aspect;
  ffmpeg::set_colours(v, r.colours);
  v.max_b_frames = 0;
  if (r.interlaced)
    v.flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME, v.field_order = AV_FIELD_TT;
  AVDictionary* options = nullptr;
  av_dict_set(&options, "crf", "1", 0);
  check(avcodec_open2(&v, nullptr, &options), r.codec);
  av_dict_free(&options);
  check(avcodec_parameters_from_context(video.stream->codecpar, &v), "video");
  video.stream->time_base = v.time_base;
  video.stream->sample_aspect_ratio = r.aspect;
  if (!varies) video.stream->avg_frame_rate = r.rate;
  if (r.rotate != 0) {
    auto* const matrix = reinterpret_cast<std::int32_t*>(
        av_stream_new_side_data(video.stream, AV_PKT_DATA_DISPLAYMATRIX, 9 * sizeof(std::int32_t)));
    av_display_rotation_set(matrix, r.rotate);
    if (r.mirrored) av_display_matrix_flip(matrix, 1, 0);
  }
  if (r.brightest != 0) {
    std::size_t bytes = 0;
    auto* const light = av_content_light_metadata_alloc(&bytes);
    light->MaxCLL = r.brightest;
    light->MaxFALL = r.brightest / 2;
    check(av_stream_add_side_data(video.stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL,
                                  reinterpret_cast<std::uint8_t*>(light), bytes),
          "light");
  }
  std::unique_ptr<encoder> sound;
  if (r.sound != nullptr) {
    auto const* const codec = avcodec_find_encoder_by_name(r.sound);
    sound = std::make_unique<encoder>(open(codec));
    auto& s = *sound->context;
    s.sample_rate = 48'000;
    s.sample_fmt = codec->sample_fmts[0];
    av_channel_layout_default(&s.ch_layout, 2);
    s.bit_rate = 128'000;
    s.time_base = {1, 48'000};
    check(avcodec_open2(&s, nullptr, nullptr), r.sound);
    check(avcodec_parameters_from_context(sound->stream->codecpar, &s), "sound");
    sound->stream->time_base = s.time_base;
  }
  if ((out->oformat->flags & AVFMT_NOFILE) == 0)
    check(avio_open(&out->pb, r.file.c_str(), AVIO_FLAG_WRITE), "file");
  if (r.title != nullptr) av_dict_set(&out->metadata, "title", r.title, 0);
  check(avformat_write_header(out.get(), nullptr), "header");
  auto const pictures = varies ? static_cast<int>(r.times.size()) : r.pictures;
  std::map<std::int64_t, std::int64_t> lasts;
  std::int64_t samples = 0;
  auto const hear = [&](double until) {
    if (!sound) return;
    auto& s = *sound->context;
    int const size = s.frame_size > 0 ? s.frame_size : 1024;
    while (static_cast<double>(samples) / 48'000 < std::min(until, r.sound_seconds)) {
      auto const f = ffmpeg::new_frame();
      f->format = s.sample_fmt;
      f->nb_samples = size;
      f->sample_rate = 48'000;
      av_channel_layout_copy(&f->ch_layout, &s.ch_layout);
      check(av_frame_get_buffer(f.get(), 0), "sound");
      bool const planar = av_sample_fmt_is_planar(s.sample_fmt) != 0;
      auto const bytes = av_get_bytes_per_sample(s.sample_fmt);
      for (int i = 0; i < size; ++i)
        for (int c = 0; c < 2; ++c) {
          double const value = 0.3 * std::sin(2 * std::numbers::pi * 440 * (c + 1) *
                                              static_cast<double>(samples + i) / 48'000);
          auto* const at = planar ? f->extended_data[c] + i * bytes : f->data[0] + (2 * i + c) * bytes;
          if (bytes == 4 && (s.sample_fmt == AV_SAMPLE_FMT_FLT || s.sample_fmt == AV_SAMPLE_FMT_FLTP)) {
            auto const x = static_cast<float>(value);
            std::memcpy(at, &x, 4);
          } else if (bytes == 2) {
            auto const x = static_cast<std::int16_t>(value * 32767);
            std::memcpy(at, &x, 2);
          } else {
            auto const x = static_cast<std::int32_t>(value * 2147483647.0);
            std::memcpy(at, &x, 4);
          }
        }
      f->pts = samples;
      samples += size;
      drain(*sound, *out, f.get(), nullptr);
    }
  };
  for (int n = 0; n < pictures; ++n) {
    auto const f = ffmpeg::new_frame();
    f->format = r.format;
    f->width = r.width;
    f->height = r.height;
    check(av_frame_get_buffer(f.get(), 0), "picture");
    paint(*f, r, n);
    f->pts = varies ? std::llround(r.times[static_cast<std::size_t>(n)] * 90'000) : n;
    lasts[f->pts] = varies ? std::llround(((static_cast<std::size_t>(n) + 1 < r.times.size()
                                                ? r.times[static_cast<std::size_t>(n) + 1]
                                                : r.times[static_cast<std::size_t>(n)] + 0.5) -
                                           r.times[static_cast<std::size_t>(n)]) *
                                          90'000)
                           : 1;
    f->sample_aspect_ratio = r.aspect;
    f->interlaced_frame = r.interlaced;
    f->top_field_first = r.interlaced;
    ffmpeg::set_colours(*f, r.colours);
    hear(static_cast<double>(f->pts) * av_q2d(v.time_base));
    drain(video, *out, f.get(), &lasts);
  }
  drain(video, *out, nullptr, &lasts);
  hear(1e9);
  if (sound) drain(*sound, *out, nullptr, nullptr);
  check(av_write_trailer(out.get()), "trailer");
  if ((out->oformat->flags & AVFMT_NOFILE) == 0) avio_closep(&out->pb);
}

contents read(std::string const& file) {
  av_log_set_level(AV_LOG_FATAL);
  AVFormatContext* raw = nullptr;
  check(avformat_open_input(&raw, ("file:" + file).c_str(), nullptr, nullptr), file.c_str());
  ffmpeg::input const in(raw);
  check(avformat_find_stream_info(in.get(), nullptr), "streams");
  contents c;
  AVCodec const* codec = nullptr;
  int const video = check(av_find_best_stream(in.get(), AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0), "video");
  int const sound = av_find_best_stream(in.get(), AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0);
  auto* const s = in->streams[video];
  if (auto const* const alpha = av_dict_get(s->metadata, "alpha_mode", nullptr, 0);
      alpha != nullptr && s->codecpar->codec_id == AV_CODEC_ID_VP9)
    codec = avcodec_find_decoder_by_name("libvpx-vp9");
  c.codec = avcodec_get_name(s->codecpar->codec_id);
  if (sound >= 0) c.sound_codec = avcodec_get_name(in->streams[sound]->codecpar->codec_id);
  c.rate = av_guess_frame_rate(in.get(), s, nullptr);
  c.aspect = av_guess_sample_aspect_ratio(in.get(), s, nullptr);
  if (auto const* const matrix = reinterpret_cast<std::int32_t const*>(
          av_stream_get_side_data(s, AV_PKT_DATA_DISPLAYMATRIX, nullptr)))
    c.rotate = static_cast<int>(std::lround(-av_display_rotation_get(matrix)));
  if (auto const* const light = reinterpret_cast<AVContentLightMetadata const*>(
          av_stream_get_side_data(s, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, nullptr)))
    c.brightest = light->MaxCLL;
  ffmpeg::codec_context const decoder(avcodec_alloc_context3(codec));
  check(avcodec_parameters_to_context(decoder.get(), s->codecpar), "decoder");
  check(avcodec_open2(decoder.get(), codec, nullptr), "decoder");
  auto const p = ffmpeg::new_packet();
  auto const f = ffmpeg::new_frame();
  bool first_heard = true;
  auto const take = [&](AVPacket const* packet) {
    avcodec_send_packet(decoder.get(), packet);
    while (avcodec_receive_frame(decoder.get(), f.get()) == 0) {
      if (c.times.empty()) {
        c.width = f->width;
        c.height = f->height;
        c.format = f->format;
        c.interlaced = f->interlaced_frame != 0;
        c.colours = {static_cast<std::uint8_t>(f->color_primaries), static_cast<std::uint8_t>(f->color_trc),
                     static_cast<std::uint8_t>(f->colorspace),
                     static_cast<std::uint8_t>(ffmpeg::is_full(f->format, f->color_range) ? 1 : 0)};
        for (int i = 0; i < 9; ++i)
          for (int k = 0; k < 4; ++k)
            c.samples[i][k] = get(*f, k, f->width * (2 * (i % 3) + 1) / 6, f->height * (2 * (i / 3) + 1) / 6);
      }
      c.times.push_back(static_cast<double>(f->best_effort_timestamp) * av_q2d(s->time_base));
      c.lasts = static_cast<double>(f->pkt_duration) * av_q2d(s->time_base);
    }
  };
  while (av_read_frame(in.get(), p.get()) >= 0) {
    if (p->stream_index == video) take(p.get());
    if (p->stream_index == sound) {
      if (std::exchange(first_heard, false))
        c.heard_from = static_cast<double>(p->pts) * av_q2d(in->streams[sound]->time_base);
      c.heard.emplace_back(reinterpret_cast<char const*>(p->data), static_cast<std::size_t>(p->size));
    }
    av_packet_unref(p.get());
  }
  take(nullptr);
  return c;
}

}  // namespace clip_test
