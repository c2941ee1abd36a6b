#include "actors/video/ffmpeg/sound_track.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "actors/video/ffmpeg/sound_parameters.hpp"
#include "actors/video/ffmpeg/video_errors.hpp"

namespace rondo::video {

namespace {

bool holds(AVOutputFormat const& container, AVCodecParameters const& of) {
  int const known = avformat_query_codec(&container, of.codec_id, FF_COMPLIANCE_NORMAL);
  if (known >= 0) return known == 1;
  return container.codec_tag != nullptr && av_codec_get_tag(container.codec_tag, of.codec_id) != 0;
}

/// A codec's tag stays if the container has it for this codec, too.
unsigned tag_for(AVOutputFormat const& container, AVCodecParameters const& of) {
  if (container.codec_tag == nullptr || av_codec_get_id(container.codec_tag, of.codec_tag) == of.codec_id)
    return of.codec_tag;
  return 0;
}

}  // namespace

void sound_track::check(char const* what, int result) const {
  if (result < 0)
    throw video_error(fmt::format("cannot {} the sound of '{}': {}", what, file_, ffmpeg::text(result)));
}

sound_track::sound_track(AVFormatContext& output, sound const& about, std::string file,
                         std::function<void(std::string const&)> const& remark)
    : about_(about), file_(std::move(file)) {
  stream_ = avformat_new_stream(&output, nullptr);
  if (stream_ == nullptr) throw std::bad_alloc();
  if (about.codec == 0) {
    AVChannelLayout layout{};
    av_channel_layout_default(&layout, about.channels);
    open_encoder(output, layout, about.rate);
    return;
  }
  auto const* const known = sound_parameters_of(about.parameters);
  if (known == nullptr)
    throw video_error(
        fmt::format("cannot write the sound of '{}': its packets come from another process", file_));
  tick_ = known->tick;
  auto const& from = *known->of;
  if (holds(*output.oformat, from)) {
    check("write", avcodec_parameters_copy(stream_->codecpar, &from));
    stream_->codecpar->codec_tag = tag_for(*output.oformat, from);
    stream_->time_base = tick_;
    return;
  }
  auto const* const codec = avcodec_find_decoder(from.codec_id);
  if (codec == nullptr)
    throw video_error(
        fmt::format("cannot write the sound of '{}': {} files do not hold {}, and this FFmpeg has no "
                    "decoder for it",
                    file_, output.oformat->name, avcodec_get_name(from.codec_id)));
  decoder_.reset(avcodec_alloc_context3(codec));
  if (!decoder_) throw std::bad_alloc();
  check("decode", avcodec_parameters_to_context(decoder_.get(), &from));
  decoder_->pkt_timebase = tick_;
  check("decode", avcodec_open2(decoder_.get(), codec, nullptr));
  open_encoder(output, decoder_->ch_layout, decoder_->sample_rate);
  remark(fmt::format("'{}': {} files do not hold {}: the sound is encoded again, as {}", file_,
                     output.oformat->name, avcodec_get_name(from.codec_id),
                     avcodec_get_name(encoder_->codec_id)));
}

void sound_track::open_encoder(AVFormatContext& output, AVChannelLayout const& layout, int rate) {
  auto id = output.oformat->audio_codec;
  // libvorbis and libopus are better than FFmpeg's own.
  AVCodec const* codec = id == AV_CODEC_ID_OPUS     ? avcodec_find_encoder_by_name("libopus")
                         : id == AV_CODEC_ID_VORBIS ? avcodec_find_encoder_by_name("libvorbis")
                                                    : nullptr;
  if (codec == nullptr) codec = avcodec_find_encoder(id);
  if (codec == nullptr)
    throw video_error(
        fmt::format("cannot write the sound of '{}': {} files hold none that this FFmpeg can encode", file_,
                    output.oformat->name));
  encoder_.reset(avcodec_alloc_context3(codec));
  if (!encoder_) throw std::bad_alloc();
  encoder_->sample_fmt = AV_SAMPLE_FMT_FLTP;
  if (codec->sample_fmts != nullptr) {
    encoder_->sample_fmt = codec->sample_fmts[0];
    for (auto const* f = codec->sample_fmts; *f != AV_SAMPLE_FMT_NONE; ++f)
      if (*f == AV_SAMPLE_FMT_FLTP) encoder_->sample_fmt = *f;
  }
  encoder_->sample_rate = rate;
  if (codec->supported_samplerates != nullptr) {
    bool known = false;
    int highest = 0;
    for (auto const* r = codec->supported_samplerates; *r != 0; ++r)
      known = known || *r == rate, highest = std::max(highest, *r);
    if (!known) encoder_->sample_rate = highest;
  }
  check("encode", av_channel_layout_copy(&encoder_->ch_layout, &layout));
  encoder_->time_base = {1, encoder_->sample_rate};
  encoder_->bit_rate = 96'000LL * std::max(1, layout.nb_channels);
  if ((output.oformat->flags & AVFMT_GLOBALHEADER) != 0) encoder_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  check("encode", avcodec_open2(encoder_.get(), codec, nullptr));
  check("encode", avcodec_parameters_from_context(stream_->codecpar, encoder_.get()));
  stream_->time_base = encoder_->time_base;
  waiting_.reset(av_audio_fifo_alloc(encoder_->sample_fmt, encoder_->ch_layout.nb_channels, 1));
  if (!waiting_) throw std::bad_alloc();
}

void sound_track::write(std::byte const* data, write_packet const& write) {
  auto const& head = *reinterpret_cast<sound_block const*>(data);
  if (about_.codec == 0) {
    frame_->format = AV_SAMPLE_FMT_FLTP;
    frame_->sample_rate = about_.rate;
    frame_->nb_samples = static_cast<int>(head.count);
    av_channel_layout_uninit(&frame_->ch_layout);
    av_channel_layout_default(&frame_->ch_layout, about_.channels);
    check("encode", av_frame_get_buffer(frame_.get(), 0));
    for (int c = 0; c < about_.channels; ++c)
      std::memcpy(frame_->extended_data[c], samples_of(data, c), head.count * sizeof(float));
    take(*frame_, static_cast<std::int64_t>(head.time_ns), write);
    av_frame_unref(frame_.get());
    return;
  }
  auto const* at = data + sizeof head;
  for (std::uint32_t i = 0; i < head.count; ++i) {
    auto const& p = *reinterpret_cast<packet_of_sound const*>(at);
    av_packet_unref(packet_.get());
    check("write", av_new_packet(packet_.get(), static_cast<int>(p.bytes)));
    std::memcpy(packet_->data, at + sizeof p, p.bytes);
    packet_->pts = p.pts;
    packet_->dts = p.dts;
    packet_->duration = p.duration;
    packet_->flags = static_cast<int>(p.flags);
    at += p.bytes_with_data();
    if (!decoder_) {
      write(*packet_, *stream_, tick_);
      continue;
    }
    static_cast<void>(avcodec_send_packet(decoder_.get(), packet_.get()));  // a damaged one is left out
    while (avcodec_receive_frame(decoder_.get(), frame_.get()) == 0) {
      auto const stamp = frame_->best_effort_timestamp;
      take(*frame_, stamp == AV_NOPTS_VALUE ? -1 : av_rescale_q(stamp, tick_, ffmpeg::nanoseconds), write);
    }
  }
}

void sound_track::take(AVFrame const& samples, std::int64_t time_ns, write_packet const& write) {
  if (!resampler_) {
    SwrContext* made = nullptr;
    check("encode",
          swr_alloc_set_opts2(&made, &encoder_->ch_layout, encoder_->sample_fmt, encoder_->sample_rate,
                              const_cast<AVChannelLayout*>(&samples.ch_layout),
                              static_cast<AVSampleFormat>(samples.format), samples.sample_rate, 0, nullptr));
    resampler_.reset(made);
    check("encode", swr_init(made));
  }
  if (!std::exchange(has_begun_, true))
    next_ = time_ns > 0 ? av_rescale_q(time_ns, ffmpeg::nanoseconds, encoder_->time_base) : 0;
  auto const converted = ffmpeg::new_frame();
  converted->format = encoder_->sample_fmt;
  converted->sample_rate = encoder_->sample_rate;
  check("encode", av_channel_layout_copy(&converted->ch_layout, &encoder_->ch_layout));
  check("encode", swr_convert_frame(resampler_.get(), converted.get(), &samples));
  if (converted->nb_samples > 0)
    check("encode", av_audio_fifo_write(waiting_.get(), reinterpret_cast<void**>(converted->extended_data),
                                        converted->nb_samples));
  encode(false, write);
}

void sound_track::encode(bool all, write_packet const& write) {
  int const usual = encoder_->frame_size > 0 ? encoder_->frame_size : 1024;
  while (av_audio_fifo_size(waiting_.get()) >= (all ? 1 : usual)) {
    auto const f = ffmpeg::new_frame();
    f->format = encoder_->sample_fmt;
    f->sample_rate = encoder_->sample_rate;
    f->nb_samples = std::min(usual, av_audio_fifo_size(waiting_.get()));
    check("encode", av_channel_layout_copy(&f->ch_layout, &encoder_->ch_layout));
    check("encode", av_frame_get_buffer(f.get(), 0));
    check("encode",
          av_audio_fifo_read(waiting_.get(), reinterpret_cast<void**>(f->extended_data), f->nb_samples));
    f->pts = next_;
    next_ += f->nb_samples;
    check("encode", avcodec_send_frame(encoder_.get(), f.get()));
    while (avcodec_receive_packet(encoder_.get(), packet_.get()) == 0)
      write(*packet_, *stream_, encoder_->time_base);
  }
}

void sound_track::finish(write_packet const& write) {
  if (!encoder_) return;
  if (decoder_) {
    static_cast<void>(avcodec_send_packet(decoder_.get(), nullptr));
    while (avcodec_receive_frame(decoder_.get(), frame_.get()) == 0) take(*frame_, -1, write);
  }
  if (!resampler_) return;
  encode(true, write);
  check("encode", avcodec_send_frame(encoder_.get(), nullptr));
  while (avcodec_receive_packet(encoder_.get(), packet_.get()) == 0)
    write(*packet_, *stream_, encoder_->time_base);
}

}  // namespace rondo::video
