#include "actors/video/files/video_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actors/video/files/video_input.hpp"
#include "runtime/text/shown_url.hpp"

namespace rondo::video {

struct video_reader::state {
  explicit state(std::string const& from) : source(shown_url(from)), patience(from) {}

  std::string source;  // for messages
  server_patience patience;
  ffmpeg::input input;
  ffmpeg::codec_context decoder;
  ffmpeg::packet packet;
  ffmpeg::frame decoded;
  ffmpeg::scaler scaler;
  int stream = -1;
  video_format format;
  std::int64_t estimate = 0;
  std::int64_t declared = 0;  ///< frames in the container's index; 0 if there is none
  std::int64_t frames = 0;
  std::int64_t duration = 0;     ///< in ticks; 0: not known
  std::int64_t frame_ticks = 1;  ///< the duration of a frame, if constant
  std::int64_t origin = 0, stamp = 0;
  std::int64_t damaged = 0;    ///< packets that did not decode
  std::int64_t concealed = 0;  ///< frames that were decoded with errors
  bool draining = false;
  bool ended = false;
  bool cut_short = false;
  std::string error;

  void open(int decoder_threads);
  int next();
  void finish(int result);
  void note_time();
  void deliver(frame_view const& out);
};

namespace {

bool planar_420(AVFrame const& f) {
  return f.format == AV_PIX_FMT_YUV420P && f.color_range != AVCOL_RANGE_JPEG;
}

}  // namespace

void video_reader::state::open(int decoder_threads) {
  patience.begin();
  int result = avformat_find_stream_info(input.get(), nullptr);
  if (result < 0)
    throw video_error(fmt::format("cannot read the video '{}': {}", source, why_not_read(result)));

  AVCodec const* codec = nullptr;
  stream = av_find_best_stream(input.get(), AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
  if (stream == AVERROR_STREAM_NOT_FOUND)
    throw video_error(fmt::format("cannot use '{}': it has no video stream (it is a {} file)", source,
                                  input->iformat->long_name));
  AVStream* const s = input->streams[std::max(stream, 0)];
  if (stream < 0 || codec == nullptr)
    throw video_error(fmt::format("cannot decode '{}': this FFmpeg has no decoder for {}", source,
                                  avcodec_get_name(s->codecpar->codec_id)));
  // A text or subtitle file may pass as video (FFmpeg renders it): real videos state their size.
  if (codec->id == AV_CODEC_ID_ANSI || s->codecpar->width <= 0 || s->codecpar->height <= 0)
    throw video_error(
        fmt::format("cannot open '{}': this is not a video (found: {})", source, codec->long_name));

  decoder.reset(avcodec_alloc_context3(codec));
  packet.reset(av_packet_alloc());
  decoded.reset(av_frame_alloc());
  if (!decoder || !packet || !decoded) throw std::bad_alloc();
  result = avcodec_parameters_to_context(decoder.get(), s->codecpar);
  decoder->thread_count = decoder_threads;
  if (result >= 0) result = avcodec_open2(decoder.get(), codec, nullptr);
  if (result < 0)
    throw video_error(fmt::format("cannot decode '{}' ({}): {}", source, codec->name, ffmpeg::text(result)));

  AVRational const rate = av_guess_frame_rate(input.get(), s, nullptr);
  AVRational const aspect = av_guess_sample_aspect_ratio(input.get(), s, nullptr);
  format.width = s->codecpar->width;
  format.height = s->codecpar->height;
  if (rate.num > 0 && rate.den > 0) format.frames_per_second = av_q2d(rate);
  if (aspect.num > 0 && aspect.den > 0) {
    format.pixel_aspect_num = aspect.num;
    format.pixel_aspect_den = aspect.den;
  }
  format.colour_matrix = decoder->colorspace;
  format.colour_primaries = decoder->color_primaries;
  format.colour_transfer = decoder->color_trc;

  format.tick_num = s->time_base.num;
  format.tick_den = s->time_base.den;
  frame_ticks =
      std::max<std::int64_t>(1, std::llround(1 / (format.frames_per_second * av_q2d(s->time_base))));
  duration = std::max<std::int64_t>(0, s->duration);

  declared = s->nb_frames;
  double seconds = 0;
  if (s->duration > 0)
    seconds = static_cast<double>(s->duration) * av_q2d(s->time_base);
  else if (input->duration > 0)
    seconds = static_cast<double>(input->duration) / AV_TIME_BASE;
  estimate = declared > 0 ? declared : std::llround(seconds * format.frames_per_second);
}

/// Fetches the next decoded frame: 0, AVERROR_EOF at the end, or another error.
int video_reader::state::next() {
  for (;;) {
    int result = avcodec_receive_frame(decoder.get(), decoded.get());
    if (result == 0 && decoded->decode_error_flags != 0) ++concealed;
    if (result == 0 || result == AVERROR_EOF) return result;
    if (result != AVERROR(EAGAIN)) ++damaged;
    if (draining) {
      if (result != AVERROR(EAGAIN)) return result;
      return AVERROR_EOF;
    }
    av_packet_unref(packet.get());
    patience.begin();
    result = av_read_frame(input.get(), packet.get());
    if (result == AVERROR(EAGAIN)) continue;
    if (result < 0) {
      if (result != AVERROR_EOF) finish(result);
      draining = true;
      avcodec_send_packet(decoder.get(), nullptr);
      continue;
    }
    if (packet->stream_index != stream) continue;
    if ((packet->flags & AV_PKT_FLAG_CORRUPT) != 0) ++damaged;
    // A damaged packet costs its frame; the ones after it may be sound.
    if (avcodec_send_packet(decoder.get(), packet.get()) < 0) ++damaged;
  }
}

/// Records why the video ended, if it ended early.
void video_reader::state::finish(int result) {
  if (!error.empty()) return;
  if (result == AVERROR_EOF && input->pb != nullptr && input->pb->error < 0) result = input->pb->error;
  // An index is exact, but may also count missing frames, where the frame before is shown longer; the time stamps tell
  // those from lost frames. An estimate from the duration is not exact if the frame rate varies.
  std::int64_t const expected = declared > 0 ? declared : estimate;
  std::int64_t const slack = std::max<std::int64_t>(2, expected / (declared > 0 ? 100 : 10));
  cut_short = true;
  if (result != AVERROR_EOF)
    error =
        fmt::format("the video '{}' ended early, after {} frames: {}", source, frames, why_not_read(result));
  else if (expected - frames > slack && (duration == 0 || duration - stamp > (1 + slack) * frame_ticks))
    error = fmt::format("the video '{}' ended early, after {} of {} frames; the file is cut short or damaged",
                        source, frames, expected);
  else if (frames == 0)
    error =
        fmt::format("the video '{}' has no frame that can be decoded ({} damaged packets)", source, damaged);
  else
    cut_short = false;
  if (!cut_short && damaged > 0)
    error =
        fmt::format("the video '{}' has {} damaged packets; {} frames were read", source, damaged, frames);
}

/// Gives each frame a later time than the one before, even if the file has wrong time stamps or none.
void video_reader::state::note_time() {
  auto const said = decoded->best_effort_timestamp;
  if (frames == 0)
    origin = said == AV_NOPTS_VALUE ? 0 : said;
  else
    stamp = said == AV_NOPTS_VALUE ? stamp + frame_ticks : std::max(stamp + 1, said - origin);
}

void video_reader::state::deliver(frame_view const& out) {
  AVFrame& f = *decoded;
  int const width = out.y.width, height = out.y.height;
  bool const fits = width <= f.width && f.width - width <= 1 && height <= f.height && f.height - height <= 1;
  ffmpeg::planes to(out);
  if (fits && planar_420(f)) {
    av_image_copy(to.data, to.strides, const_cast<std::uint8_t const**>(f.data), f.linesize,
                  AV_PIX_FMT_YUV420P, width, height);
    return;
  }
  // A cached one, if the sizes and the format are the same as before.
  scaler.reset(sws_getCachedContext(scaler.release(), f.width, f.height, static_cast<AVPixelFormat>(f.format),
                                    width, height, AV_PIX_FMT_YUV420P, SWS_BILINEAR, nullptr, nullptr,
                                    nullptr));
  if (!scaler)
    throw video_error(
        fmt::format("cannot convert frames of '{}' from {}x{}, pixel format {}, to {}x{} in YUV 4:2:0",
                    source, f.width, f.height, f.format, width, height));
  sws_scale(scaler.get(), f.data, f.linesize, 0, f.height, to.data, to.strides);
}

video_reader::video_reader(std::string const& source, int decoder_threads)
    : state_(make_process_ptr<state>(source)) {
  state_->input = open_file(source, state_->patience);
  state_->open(decoder_threads);
}
video_reader::video_reader(camera_settings const& camera) : state_(make_process_ptr<state>(camera.device)) {
  state_->input = open_camera(camera);
  state_->open(1);
}
video_reader::~video_reader() = default;
video_reader::video_reader(video_reader&&) noexcept = default;
video_reader& video_reader::operator=(video_reader&&) noexcept = default;

bool video_reader::read(frame_view const& out) {
  state& s = *state_;
  if (out.y.width != s.format.width || out.y.height != s.format.height)
    throw video_error(fmt::format("a frame of '{}' is {}x{}, the memory given is for {}x{}", s.source,
                                  s.format.width, s.format.height, out.y.width, out.y.height));
  if (!next()) return false;
  get(out);
  return true;
}

bool video_reader::next() {
  state& s = *state_;
  if (s.ended) return false;
  int const result = s.next();
  if (result < 0) {
    s.ended = true;
    s.finish(result);
    return false;
  }
  s.note_time();
  ++s.frames;
  return true;
}

void video_reader::get(frame_view const& out) { state_->deliver(out); }

video_format const& video_reader::format() const { return state_->format; }
std::int64_t video_reader::frame_count_estimate() const { return state_->estimate; }
std::int64_t video_reader::time_stamp() const { return state_->stamp; }
std::string const& video_reader::error() const { return state_->error; }
bool video_reader::is_cut_short() const { return state_->cut_short; }
std::int64_t video_reader::damaged() const { return state_->damaged + state_->concealed; }

}  // namespace rondo::video
