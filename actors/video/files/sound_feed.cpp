#include "actors/video/files/sound_feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "actors/video/ffmpeg/sound_parameters.hpp"
#include "actors/video/files/video_reader.hpp"

namespace rondo::video {

sound sound_of(video_reader const& from, bool as_packets) {
  auto const* const p = from.sound();
  if (p == nullptr || p->ch_layout.nb_channels <= 0 || p->sample_rate <= 0) return {};
  sound s{.rate = p->sample_rate, .channels = p->ch_layout.nb_channels};
  if (as_packets) {
    s.most_bytes = 512u << 10;
    s.codec = static_cast<std::uint32_t>(p->codec_id);
    s.parameters = keep_sound_parameters(*p, from.sound_tick());
  } else {
    // Half a second; what is more comes with the next picture.
    s.most_bytes = static_cast<std::uint32_t>(
        sizeof(sound_block) + std::size_t(s.rate) / 2 * std::size_t(s.channels) * sizeof(float));
  }
  return s;
}

sound_feed::sound_feed(sound const& about) : about_(about) {
  channels_.resize(static_cast<std::size_t>(std::max(about.channels, 0)));
}

void sound_feed::read(video_reader& from, std::uint64_t before_ns, std::uint64_t offset_ns) {
  if (about_.channels == 0) return;
  auto const before = before_ns >= offset_ns ? before_ns - offset_ns : 0;
  while (from.next_sound(*packet_, before)) {
    if (about_.codec == 0) {
      decode(from, packet_.get(), offset_ns);
      continue;
    }
    auto const shift =
        av_rescale_q(static_cast<std::int64_t>(offset_ns), ffmpeg::nanoseconds, from.sound_tick());
    if (packet_->pts != AV_NOPTS_VALUE) packet_->pts += shift;
    if (packet_->dts != AV_NOPTS_VALUE) packet_->dts += shift;
    packets_.push(*packet_);
  }
  if (before_ns == ~0ull && about_.codec == 0 && !std::exchange(is_over_, true))
    decode(from, nullptr, offset_ns);
}

void sound_feed::decode(video_reader const& from, AVPacket const* packet, std::uint64_t offset_ns) {
  auto const fail = [](int result) {
    if (result < 0) throw video_error(fmt::format("cannot decode the sound: {}", ffmpeg::text(result)));
  };
  auto const* const p = from.sound();
  if (!decoder_) {
    auto const* const codec = avcodec_find_decoder(p->codec_id);
    if (codec == nullptr)
      throw video_error(fmt::format("cannot decode the sound: this FFmpeg has no decoder for {}",
                                    avcodec_get_name(p->codec_id)));
    decoder_.reset(avcodec_alloc_context3(codec));
    if (!decoder_) throw std::bad_alloc();
    fail(avcodec_parameters_to_context(decoder_.get(), p));
    decoder_->pkt_timebase = from.sound_tick();
    fail(avcodec_open2(decoder_.get(), codec, nullptr));
  }
  static_cast<void>(avcodec_send_packet(decoder_.get(), packet));  // a damaged one is left out
  while (avcodec_receive_frame(decoder_.get(), frame_.get()) == 0) {
    if (!resampler_) {
      SwrContext* made = nullptr;
      AVChannelLayout layout{};
      av_channel_layout_default(&layout, about_.channels);
      fail(swr_alloc_set_opts2(
          &made, frame_->ch_layout.nb_channels == about_.channels ? &frame_->ch_layout : &layout,
          AV_SAMPLE_FMT_FLTP, about_.rate, &frame_->ch_layout, static_cast<AVSampleFormat>(frame_->format),
          frame_->sample_rate, 0, nullptr));
      resampler_.reset(made);
      fail(swr_init(made));
    }
    if (samples_ == 0) {
      auto const stamp = frame_->best_effort_timestamp;
      auto const ns =
          stamp == AV_NOPTS_VALUE ? 0 : av_rescale_q(stamp, from.sound_tick(), ffmpeg::nanoseconds);
      time_ns_ = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)) + offset_ns;
    }
    auto const room = static_cast<std::size_t>(swr_get_out_samples(resampler_.get(), frame_->nb_samples));
    std::vector<std::uint8_t*> to;
    for (auto& c : channels_) {
      c.resize(samples_ + room);
      to.push_back(reinterpret_cast<std::uint8_t*>(c.data() + samples_));
    }
    int const made = swr_convert(resampler_.get(), to.data(), static_cast<int>(room),
                                 const_cast<std::uint8_t const**>(frame_->extended_data), frame_->nb_samples);
    fail(made);
    samples_ += static_cast<std::size_t>(made);
    for (auto& c : channels_) c.resize(samples_);
  }
}

void sound_feed::fill(std::byte* to) {
  auto& head = *new (to) sound_block{};
  if (about_.codec != 0) {
    auto* at = to + sizeof head;
    auto* const end = to + about_.most_bytes;
    while (!packets_.empty()) {
      auto const& p = packets_.front();
      packet_of_sound const said{.pts = p.pts,
                                 .dts = p.dts,
                                 .duration = p.duration,
                                 .bytes = static_cast<std::uint32_t>(p.size),
                                 .flags = static_cast<std::uint32_t>(p.flags)};
      if (static_cast<std::uint64_t>(end - at) < said.bytes_with_data()) {
        if (head.count != 0) return;
        throw video_error(fmt::format("a packet of sound has {} bytes; at most {} are passed on", p.size,
                                      about_.most_bytes));
      }
      std::memcpy(at, &said, sizeof said);
      std::memcpy(at + sizeof said, p.data, said.bytes);
      at += said.bytes_with_data();
      ++head.count;
      packets_.pop();
    }
    return;
  }
  auto const room = (about_.most_bytes - sizeof head) / sizeof(float) / channels_.size();
  auto const count = std::min(samples_, room);
  head.time_ns = time_ns_;
  head.count = static_cast<std::uint32_t>(count);
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    std::memcpy(to + sizeof head + c * count * sizeof(float), channels_[c].data(), count * sizeof(float));
    channels_[c].erase(channels_[c].begin(), channels_[c].begin() + static_cast<std::ptrdiff_t>(count));
  }
  samples_ -= count;
  time_ns_ += count * 1'000'000'000 / static_cast<std::uint64_t>(about_.rate);
}

void sound_feed::clear() {
  packets_.clear();
  for (auto& c : channels_) c.clear();
  samples_ = 0;
}

}  // namespace rondo::video
