#include "actors/video/files/video_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "actors/video/ffmpeg/packet_queue.hpp"
#include "actors/video/hardware/decoder_choice.hpp"
#include "actors/video/hardware/kept_reports.hpp"
#include "runtime/text/clean_text.hpp"

namespace rondo::video {

namespace {

/// Packets that wait while others are looked for: sound and pictures that lie farther apart are not brought together.
constexpr std::size_t most_waiting_bytes = 64u << 20;

}  // namespace

struct video_reader::state {
  state(video_source const& from, reading const& what)
      : source(from.shown()), how(what), patience(from.of == video_source::kind::url) {}

  std::string source;  // for messages
  reading how;
  server_patience patience;
  ffmpeg::input input;
  ffmpeg::decoder_hardware hardware;
  ffmpeg::codec_context decoder;
  ffmpeg::packet packet = ffmpeg::new_packet();
  ffmpeg::frame decoded = ffmpeg::new_frame(), picture = ffmpeg::new_frame();
  std::optional<picture_conversion> conversion;
  AVStream *stream = nullptr, *sound_stream = nullptr;
  packet_queue pictures_waiting, sound_waiting;
  std::size_t waiting_bytes = 0;
  std::int64_t declared = 0;  ///< pictures in the container's index; 0 if there is none
  std::int64_t estimate = 0;
  std::int64_t origin_us = 0;   ///< the source's beginning
  std::int64_t reached_us = 0;  ///< how far any packet of pictures or sound goes
  std::int64_t packets = 0;     ///< of pictures
  std::int64_t frames = 0;      ///< decoded
  std::int64_t given = 0;       ///< pictures
  std::uint64_t frame_ns = 40'000'000;
  std::uint64_t time = 0, lasts = 0;
  std::int64_t damaged = 0;    ///< packets that did not decode
  std::int64_t concealed = 0;  ///< frames that were decoded with errors
  bool input_ended = false, draining = false, ended = false, holds_first = false;
  bool cut_short = false, is_still = false, loses_opacities = false;
  int input_result = AVERROR_EOF;  ///< why the input ended
  std::string error;

  void open();
  bool open_decoder(AVCodec const& usual);
  int open_as(ffmpeg::decoder_choice const& choice);
  bool demux();
  bool decode();
  bool convert();
  bool next();
  bool is_within();
  void finish(int result);
  std::int64_t since_origin(std::int64_t stamp, AVRational tick) const {
    return av_rescale_q(stamp, tick, AV_TIME_BASE_Q) - origin_us;
  }
};

void video_reader::state::open() {
  patience.begin();
  int result = avformat_find_stream_info(input.get(), nullptr);
  if (result < 0)
    throw video_error(fmt::format("cannot read the video '{}': {}", source, why_not_read(result)));

  AVCodec const* codec = nullptr;
  int const number = av_find_best_stream(input.get(), AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
  if (number == AVERROR_STREAM_NOT_FOUND)
    throw video_error(fmt::format("cannot use '{}': it has no video stream (it is a {} file)", source,
                                  input->iformat->long_name));
  stream = input->streams[std::max(number, 0)];
  // FFmpeg's own decoder of VP9 and VP8 leaves out opacities.
  if (auto const* const alpha = av_dict_get(stream->metadata, "alpha_mode", nullptr, 0);
      alpha != nullptr && std::strcmp(alpha->value, "1") == 0)
    if (auto const* const with_alpha = avcodec_find_decoder_by_name(
            stream->codecpar->codec_id == AV_CODEC_ID_VP9 ? "libvpx-vp9" : "libvpx");
        with_alpha != nullptr && with_alpha->id == stream->codecpar->codec_id) {
      codec = with_alpha;
      loses_opacities = how.decoder != "auto";
    }
  if (number < 0 || codec == nullptr)
    throw video_error(fmt::format("cannot decode '{}': this FFmpeg has no decoder for {}", source,
                                  avcodec_get_name(stream->codecpar->codec_id)));
  // A text or subtitle file may pass as video (FFmpeg renders it): real videos state their size.
  if (codec->id == AV_CODEC_ID_ANSI || stream->codecpar->width <= 0 || stream->codecpar->height <= 0)
    throw video_error(
        fmt::format("cannot open '{}': this is not a video (found: {})", source, codec->long_name));

  is_still = (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
  if (how.sound) {
    int const heard = av_find_best_stream(input.get(), AVMEDIA_TYPE_AUDIO, -1, number, nullptr, 0);
    if (heard >= 0) sound_stream = input->streams[heard];
  }
  declared = is_still ? 0 : stream->nb_frames;
  double const rate = av_q2d(av_guess_frame_rate(input.get(), stream, nullptr));
  if (rate > 0 && std::isfinite(rate)) frame_ns = static_cast<std::uint64_t>(std::llround(1e9 / rate));
  double seconds = 0;
  if (stream->duration > 0)
    seconds = static_cast<double>(stream->duration) * av_q2d(stream->time_base);
  else if (input->duration > 0)
    seconds = static_cast<double>(input->duration) / AV_TIME_BASE;
  estimate = declared > 0 ? declared : std::llround(seconds * rate);

  if (input->start_time != AV_NOPTS_VALUE) origin_us = input->start_time;
  if (how.from > 0) {
    // To a key picture at or before it; what comes before it is decoded, and left out.
    auto const at = origin_us + static_cast<std::int64_t>(how.from * AV_TIME_BASE);
    if (av_seek_frame(input.get(), -1, at, AVSEEK_FLAG_BACKWARD) < 0)
      throw video_error(
          fmt::format("cannot begin '{}' at {} s: there is no way to seek in it", source, how.from));
  }
  if (!open_decoder(*codec)) {
    finish(input_result);
    throw video_error(error.empty() ? fmt::format("the video '{}' has no frame that can be decoded", source)
                                    : error);
  }
  conversion.emplace(source, input.get(), stream, *decoded, how.pictures);
  holds_first = true;
}

int video_reader::state::open_as(ffmpeg::decoder_choice const& choice) {
  int result = hardware.open(choice);
  if (result < 0) return result;
  decoder.reset(avcodec_alloc_context3(choice.codec));
  if (!decoder) throw std::bad_alloc();
  result = avcodec_parameters_to_context(decoder.get(), stream->codecpar);
  decoder->thread_count = how.threads;
  decoder->pkt_timebase = stream->time_base;
  hardware.attach(*decoder);
  return result < 0 ? result : avcodec_open2(decoder.get(), choice.codec, nullptr);
}

/// Opens the decoder that is wanted, and decodes the first picture. False: the video has none.
bool video_reader::state::open_decoder(AVCodec const& usual) {
  if (how.decoder == "auto") {
    int const result = open_as({&usual});
    if (result < 0)
      throw video_error(fmt::format("cannot decode '{}' ({}): {}", source, usual.name, ffmpeg::text(result)));
    return decode();
  }
  std::string reasons;
  for (auto const& choice : ffmpeg::decoders_for(how.decoder, usual)) {
    ffmpeg::kept_reports const reports;
    int const result = open_as(choice);
    // What was not decoded is still there for the next one.
    if (result >= 0 && decode()) {
      hardware.begin();
      return true;
    }
    if (result >= 0 && !hardware.has_refused()) return false;
    auto const why =
        result < 0 ? reports.why(result) : "it does not decode this video, " + reports.why(AVERROR(ENOSYS));
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", choice.name(), why);
    damaged = 0;
  }
  if (reasons.empty())
    throw video_device_error(fmt::format(
        "cannot decode '{}': this FFmpeg has no decoder '{}' for {}; leave out `decoder`, and the "
        "processor decodes it",
        source, how.decoder, avcodec_get_name(usual.id)));
  throw video_device_error(
      fmt::format("cannot decode '{}': this machine has no hardware for the decoder '{}' ({}); leave out "
                  "`decoder`, and the processor decodes it",
                  source, how.decoder, reasons));
}

/// Reads one packet, and puts it where it belongs. False: there are no more.
bool video_reader::state::demux() {
  while (!input_ended) {
    av_packet_unref(packet.get());
    patience.begin();
    int const result = av_read_frame(input.get(), packet.get());
    if (result == AVERROR(EAGAIN)) continue;
    if (result < 0) {
      input_ended = true;
      input_result = result;
      return false;
    }
    auto* const of = input->streams[packet->stream_index];
    auto const type = of->codecpar->codec_type;
    if (auto const stamp = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
        stamp != AV_NOPTS_VALUE && (type == AVMEDIA_TYPE_VIDEO || type == AVMEDIA_TYPE_AUDIO))
      reached_us = std::max(reached_us, since_origin(stamp + packet->duration, of->time_base));
    auto* const to = of == stream ? &pictures_waiting : of == sound_stream ? &sound_waiting : nullptr;
    if (of == stream) {
      ++packets;
      if ((packet->flags & AV_PKT_FLAG_CORRUPT) != 0) ++damaged;
    }
    if (to == nullptr) continue;
    waiting_bytes += static_cast<std::size_t>(packet->size);
    to->push(*packet);
    return true;
  }
  return false;
}

/// Decodes the next frame; false at the end.
bool video_reader::state::decode() {
  for (;;) {
    int const result = avcodec_receive_frame(decoder.get(), decoded.get());
    if (hardware.has_refused()) return false;
    if (result == 0) {
      if (int const fetched = ffmpeg::download(*decoded); fetched < 0)
        throw video_device_error(fmt::format("cannot fetch a picture of '{}' from the decoder '{}': {}",
                                             source, how.decoder, ffmpeg::text(fetched)));
      if (decoded->decode_error_flags != 0) ++concealed;
      ++frames;
      decoded->pts = decoded->best_effort_timestamp;
      return true;
    }
    if (result == AVERROR_EOF) return false;
    if (result != AVERROR(EAGAIN)) ++damaged;
    if (draining) return false;
    while (pictures_waiting.empty())
      if (!demux()) break;
    if (pictures_waiting.empty()) {
      draining = true;
      avcodec_send_packet(decoder.get(), nullptr);
      continue;
    }
    auto const& next = pictures_waiting.front();
    // A damaged packet costs its frame; the ones after it may be sound.
    if (avcodec_send_packet(decoder.get(), &next) < 0) ++damaged;
    if (hardware.has_refused()) return false;
    waiting_bytes -= static_cast<std::size_t>(next.size);
    pictures_waiting.pop();
  }
}

/// The next picture, converted; false at the end.
bool video_reader::state::convert() {
  for (;;) {
    if (conversion->take(*picture)) return true;
    if (std::exchange(holds_first, false) || decode())
      conversion->give(decoded.get());
    else if (conversion->give(nullptr); !conversion->take(*picture))
      return false;
    else
      return true;
  }
}

/// Whether the picture is one of those that are wanted. Notes its time: later than the one before, even if the source
/// has wrong time stamps or none.
bool video_reader::state::is_within() {
  auto const duration = picture->pkt_duration > 0
                            ? av_rescale_q(picture->pkt_duration, stream->time_base, ffmpeg::nanoseconds)
                            : 0;
  std::int64_t said = std::numeric_limits<std::int64_t>::min();
  if (picture->pts != AV_NOPTS_VALUE) {
    if (given == 0 && how.from == 0)  // no picture comes before the beginning
      origin_us = std::min(origin_us,
                           av_rescale_q_rnd(picture->pts, stream->time_base, AV_TIME_BASE_Q, AV_ROUND_DOWN));
    said = av_rescale_q(picture->pts, stream->time_base, ffmpeg::nanoseconds) - origin_us * 1000;
  }
  auto const from = static_cast<std::int64_t>(how.from * 1e9);
  if (how.from > 0 && said != std::numeric_limits<std::int64_t>::min() &&
      said + std::max<std::int64_t>(duration, 1) <= from)
    return false;
  said -= said != std::numeric_limits<std::int64_t>::min() ? from : 0;
  if (said < 0 && given == 0) said = 0;
  auto const after = given == 0 ? 0 : static_cast<std::int64_t>(time + 1);
  auto const expected = given == 0 ? 0 : static_cast<std::int64_t>(time + (lasts != 0 ? lasts : frame_ns));
  time = static_cast<std::uint64_t>(said == std::numeric_limits<std::int64_t>::min() ? expected
                                                                                     : std::max(said, after));
  lasts = duration > 0 ? static_cast<std::uint64_t>(duration) : 0;
  // A cover is shown as long as its sound lasts.
  if (is_still && input->duration > 0) lasts = static_cast<std::uint64_t>(input->duration) * 1000;
  return true;
}

bool video_reader::state::next() {
  while (!ended) {
    if (!convert()) {
      ended = true;
      finish(input_result);
      break;
    }
    if (!is_within()) continue;
    if (how.to > 0 && static_cast<double>(time) / 1e9 + how.from >= how.to) {
      ended = true;
      break;
    }
    ++given;
    return true;
  }
  return false;
}

/// Records why the video ended, if it ended early.
void video_reader::state::finish(int result) {
  if (!error.empty() || (how.to > 0 && ended && !input_ended)) return;
  if (result == AVERROR_EOF && input->pb != nullptr && input->pb->error < 0) result = input->pb->error;
  cut_short = true;
  auto const short_of = [&](std::int64_t expected) {
    return fmt::format("the video '{}' ended early, after {} of {} frames; the file is cut short or damaged",
                       source, frames, expected);
  };
  // An index says how many packets there are. A duration is that of the longest stream, and of some containers only a
  // guess: then what is missing has to be much.
  bool const is_whole = how.from == 0;
  auto const missing_us = input->duration - reached_us;
  bool const is_guess =
      input->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE || input->duration <= 0;
  if (result != AVERROR_EOF)
    error =
        fmt::format("the video '{}' ended early, after {} frames: {}", source, frames, why_not_read(result));
  else if (!input_ended)
    cut_short = false;
  else if (is_whole && declared > 0 && declared - packets > std::max<std::int64_t>(2, declared / 100) &&
           missing_us >
               std::max<std::int64_t>(static_cast<std::int64_t>(3 * frame_ns / 1000), input->duration / 100))
    error = short_of(declared);
  else if (is_whole && declared == 0 && !is_guess && !is_still &&
           missing_us > std::max<std::int64_t>(AV_TIME_BASE / 2, input->duration / 20))
    error = short_of(std::max(estimate, frames));
  else if (frames == 0 && draining)
    error =
        fmt::format("the video '{}' has no frame that can be decoded ({} damaged packets)", source, damaged);
  else
    cut_short = false;
  if (!cut_short && damaged > 0 && draining)
    error =
        fmt::format("the video '{}' has {} damaged packets; {} frames were read", source, damaged, frames);
}

video_reader::video_reader(video_source const& source, reading const& how)
    : state_(make_process_ptr<state>(source, how)) {
  state_->input = open_input(source, state_->patience);
  state_->open();
}
video_reader::~video_reader() = default;
video_reader::video_reader(video_reader&&) noexcept = default;
video_reader& video_reader::operator=(video_reader&&) noexcept = default;

image const& video_reader::about() const { return state_->conversion->about(); }

int video_reader::own_width() const { return state_->decoder->width; }
int video_reader::own_height() const { return state_->decoder->height; }

namespace {

/// What the file says of itself, for people: the names of its entries, without those that its writer has made.
std::string names_of_metadata(AVDictionary const* entries) {
  constexpr std::string_view of_writers[] = {"encoder",  "major_brand", "minor_version", "compatible_brands",
                                             "software", "duration",    "ihdr",          "service_name"};
  std::string names;
  AVDictionaryEntry const* e = nullptr;
  while ((e = av_dict_get(entries, "", e, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    std::string name = clean_text(e->key);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::ranges::find(of_writers, name) != std::end(of_writers)) continue;
    names += (names.empty() ? "" : ", ") + name.substr(0, 40);
    if (names.size() > 80) return names + ", ...";
  }
  return names;
}

}  // namespace

std::string video_reader::remarks() const {
  auto const& s = *state_;
  auto const& c = *s.conversion;
  std::vector<std::string> all;
  if (c.cut_columns() != 0 || c.cut_rows() != 0)
    all.push_back(fmt::format("its last {} left out: 4:2:0 has even sizes (`odd: pad` keeps them)",
                              c.cut_columns() == 0 ? "row is"
                              : c.cut_rows() == 0  ? "column is"
                                                   : "row and column are"));
  if (c.depth() > 8 && about().format != pixel_format::i420_10)
    all.push_back(fmt::format("its {} bits a sample become 8", c.depth()));
  if (s.loses_opacities && about().format != pixel_format::i420a)
    all.push_back("its opacities are left out: this decoder has none");
  if (about().colours.transfer == 16 || about().colours.transfer == 18)
    all.push_back("its brightness is that of HDR (PQ or HLG), which stays, without tone mapping");
  int sounds = 0, subtitles = 0, others = 0;
  for (unsigned i = 0; i < s.input->nb_streams; ++i) {
    auto const* const of = s.input->streams[i];
    if (of == s.stream || of == s.sound_stream) continue;
    auto const type = of->codecpar->codec_type;
    ++(type == AVMEDIA_TYPE_AUDIO ? sounds : type == AVMEDIA_TYPE_SUBTITLE ? subtitles : others);
  }
  if (sounds != 0)
    all.push_back(s.how.sound ? "its other streams of sound are left out"
                              : "its streams of sound are left out");
  if (subtitles != 0)
    all.push_back(fmt::format("{} of subtitles left out", subtitles == 1 ? "a stream" : "streams"));
  if (others != 0)
    all.push_back(fmt::format("{} of other data or pictures left out", others == 1 ? "a stream" : "streams"));
  if (s.input->nb_chapters != 0) all.push_back("its chapters are left out");
  if (auto const names = names_of_metadata(s.input->metadata); !names.empty())
    all.push_back(fmt::format("its metadata ({}) is left out", names));
  return all.empty() ? std::string() : fmt::format("'{}': {}", s.source, fmt::join(all, "; "));
}

bool video_reader::next() { return state_->next(); }
void video_reader::get(std::byte* to) const { state_->conversion->copy(*state_->picture, to); }
std::uint64_t video_reader::time_ns() const { return state_->time; }
std::uint64_t video_reader::lasts_ns() const { return state_->lasts; }

AVCodecParameters const* video_reader::sound() const {
  return state_->sound_stream != nullptr ? state_->sound_stream->codecpar : nullptr;
}
AVRational video_reader::sound_tick() const { return state_->sound_stream->time_base; }

bool video_reader::next_sound(AVPacket& to, std::uint64_t before_ns) {
  auto& s = *state_;
  if (s.sound_stream == nullptr) return false;
  auto const tick = s.sound_stream->time_base;
  for (;;) {
    while (s.sound_waiting.empty()) {
      if (s.waiting_bytes > most_waiting_bytes || !s.demux()) return false;
    }
    auto& first = s.sound_waiting.front();
    auto const stamp = first.pts != AV_NOPTS_VALUE ? first.pts : first.dts;
    auto const at_ns = stamp == AV_NOPTS_VALUE ? 0 : s.since_origin(stamp, tick) * 1000;
    auto const from_ns = static_cast<std::int64_t>(s.how.from * 1e9);
    if (at_ns - from_ns >= 0 && static_cast<std::uint64_t>(at_ns - from_ns) >= before_ns) return false;
    if (s.how.to > 0 && static_cast<double>(at_ns) / 1e9 >= s.how.to) return false;
    s.waiting_bytes -= static_cast<std::size_t>(first.size);
    av_packet_unref(&to);
    av_packet_move_ref(&to, &first);
    s.sound_waiting.pop();
    auto const ends_ns =
        at_ns + av_rescale_q(std::max<std::int64_t>(to.duration, 1), tick, ffmpeg::nanoseconds);
    if (s.how.from > 0 && ends_ns <= from_ns) continue;  // before what is read
    auto const shift =
        av_rescale_q(s.origin_us, AV_TIME_BASE_Q, tick) + av_rescale_q(from_ns, ffmpeg::nanoseconds, tick);
    if (to.pts != AV_NOPTS_VALUE) to.pts -= shift;
    if (to.dts != AV_NOPTS_VALUE) to.dts -= shift;
    return true;
  }
}

std::int64_t video_reader::frame_count_estimate() const { return state_->estimate; }
std::string const& video_reader::error() const { return state_->error; }
bool video_reader::is_cut_short() const { return state_->cut_short; }
std::int64_t video_reader::damaged() const { return state_->damaged + state_->concealed; }

}  // namespace rondo::video
