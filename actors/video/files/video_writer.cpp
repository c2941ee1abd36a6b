#include "actors/video/files/video_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "actors/video/files/ffmpeg.hpp"
#include "runtime/files/file_size_errors.hpp"
#include "runtime/files/part_file.hpp"
#include "runtime/text/shown_url.hpp"

extern "C" {
#include <libavutil/opt.h>
}

namespace rondo::video {

struct video_writer::state {
  std::string path, shown;  // shown: for messages
  std::optional<part_file> file;
  AVFormatContext* output = nullptr;
  ffmpeg::codec_context encoder;
  ffmpeg::frame picture;
  ffmpeg::packet packet;
  AVStream* stream = nullptr;
  video_format format;
  std::int64_t frames = 0;
  AVRational tick{};             // of the caller's time stamps
  std::int64_t frame_ticks = 1;  // of the encoder's
  std::int64_t origin = 0, pts = 0;
  bool header_written = false;

  ~state() { abandon(); }
  void open(int threads, int quality);
  void open_encoder(int threads, int quality);
  void encode(AVFrame const* f);
  void finish();
  void abandon();
  int release();
  [[noreturn]] void fail(char const* what, int error);
  /// Fails if `result` is an error.
  void check(char const* what, int result) {
    if (result < 0) fail(what, result);
  }
};

/// Closes the file. Returns an error that only closing reveals.
int video_writer::state::release() {
  int result = 0;
  if (output != nullptr) {
    if (output->pb != nullptr) {
      int const earlier = output->pb->error;
      result = avio_closep(&output->pb);
      if (earlier < 0) result = earlier;
    }
    avformat_free_context(std::exchange(output, nullptr));
  }
  return result;
}

void video_writer::state::fail(char const* what, int error) {
  std::string const advice =
      error == AVERROR(ENOSPC)   ? "the disk is full; free some space or choose another place"
      : error == AVERROR(EACCES) ? "permission denied; choose a place you may write to"
      : error == AVERROR(ENOENT) ? "its directory does not exist; create it first"
                                 : ffmpeg::text(error) + file_size_advice(AVUNERROR(error));
  if (frames == 0) abandon();
  release();
  try {
    if (file) file->finish();           // what was written plays
  } catch (std::system_error const&) {  // it does so as NAME.part
  }
  file.reset();
  throw video_error(fmt::format("cannot {} the video '{}' after {} frames: {}", what, shown, frames, advice));
}

void video_writer::state::open_encoder(int threads, int quality) {
  AVCodec const* codec = avcodec_find_encoder_by_name("libx264");
  if (codec == nullptr) codec = avcodec_find_encoder(AV_CODEC_ID_MPEG4);
  if (codec == nullptr)
    throw video_error(fmt::format("cannot write '{}': this FFmpeg has neither libx264 nor mpeg4", shown));
  encoder.reset(avcodec_alloc_context3(codec));
  if (!encoder) throw std::bad_alloc();
  AVRational const rate = av_d2q(format.frames_per_second, 100000);
  encoder->width = format.width & ~1;
  encoder->height = format.height & ~1;
  encoder->pix_fmt = AV_PIX_FMT_YUV420P;
  tick = format.tick_den != 0 ? AVRational{format.tick_num, format.tick_den} : av_inv_q(rate);
  // MPEG-4 part 2 has 16 bits for it, so its frames are shown at multiples of the frame time.
  encoder->time_base = codec->id == AV_CODEC_ID_H264 ? tick : av_inv_q(rate);
  frame_ticks = std::max<std::int64_t>(1, av_rescale_q(1, av_inv_q(rate), encoder->time_base));
  encoder->framerate = rate;
  encoder->sample_aspect_ratio = {format.pixel_aspect_num, format.pixel_aspect_den};
  encoder->gop_size = std::max(2, static_cast<int>(std::lround(2 * format.frames_per_second)));
  encoder->max_b_frames = 0;  // a fragmented file has no edit list to compensate their delay
  encoder->thread_count = threads;
  encoder->colorspace = static_cast<AVColorSpace>(format.colour_matrix);
  encoder->color_primaries = static_cast<AVColorPrimaries>(format.colour_primaries);
  encoder->color_trc = static_cast<AVColorTransferCharacteristic>(format.colour_transfer);
  encoder->color_range = AVCOL_RANGE_MPEG;
  if ((output->oformat->flags & AVFMT_GLOBALHEADER) != 0) encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  AVDictionary* options = nullptr;
  if (codec->id == AV_CODEC_ID_H264) {
    av_dict_set(&options, "preset", "veryfast", 0);
    av_dict_set(&options, "crf", std::to_string(quality).c_str(), 0);
  } else {
    encoder->flags |= AV_CODEC_FLAG_QSCALE;
    encoder->global_quality = std::clamp(quality * 3 / 20, 1, 31) * FF_QP2LAMBDA;
  }
  int const result = avcodec_open2(encoder.get(), codec, &options);
  av_dict_free(&options);
  check("encode", result);
}

void video_writer::state::open(int threads, int quality) {
  av_log_set_level(AV_LOG_FATAL);  // errors are reported by this class, with the file's name
  if (format.width < 2 || format.height < 2 || !(format.frames_per_second > 0))
    throw video_error(fmt::format("cannot write the video '{}': {}x{} pixels at {} frames/s is not a video",
                                  shown, format.width, format.height, format.frames_per_second));
  try {
    file.emplace(path);
  } catch (std::system_error const& e) {
    auto const error = AVERROR(e.code().value());
    if (error == AVERROR(ENOENT) || error == AVERROR(EACCES)) fail("create", error);
    throw video_error(fmt::format("cannot create the video '{}': {}", shown, e.what()));
  }
  // The muxer opens it again by this name, to put the index in front.
  auto const url = path == "-" ? std::string("pipe:1") : file->path();
  check("create", avformat_alloc_output_context2(&output, nullptr, "mp4", url.c_str()));
  open_encoder(threads, quality);
  stream = avformat_new_stream(output, nullptr);
  picture.reset(av_frame_alloc());
  packet.reset(av_packet_alloc());
  if (stream == nullptr || !picture || !packet) throw std::bad_alloc();
  stream->time_base = encoder->time_base;
  stream->avg_frame_rate = encoder->framerate;
  stream->sample_aspect_ratio = encoder->sample_aspect_ratio;
  check("create", avcodec_parameters_from_context(stream->codecpar, encoder.get()));
  picture->format = encoder->pix_fmt;
  picture->width = encoder->width;
  picture->height = encoder->height;
  check("create", av_frame_get_buffer(picture.get(), 0));

  check("create", avio_open(&output->pb, url.c_str(), AVIO_FLAG_WRITE));
  output->flags |= AVFMT_FLAG_FLUSH_PACKETS;
  AVDictionary* options = nullptr;
  av_dict_set(&options, "movflags", "frag_keyframe+empty_moov+default_base_moof", 0);
  if ((output->pb->seekable & AVIO_SEEKABLE_NORMAL) != 0)  // not of a FIFO
    av_dict_set(&options, "movflags", "+global_sidx", AV_DICT_APPEND);
  int const result = avformat_write_header(output, &options);
  av_dict_free(&options);
  check("start", result);
  header_written = true;
  avio_flush(output->pb);
  check("start", output->pb->error);
}

/// Sends a frame (null: the end) to the encoder and writes what comes out.
void video_writer::state::encode(AVFrame const* f) {
  check("encode", avcodec_send_frame(encoder.get(), f));
  for (;;) {
    int const result = avcodec_receive_packet(encoder.get(), packet.get());
    if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return;
    check("encode", result);
    if (packet->duration == 0) packet->duration = frame_ticks;
    av_packet_rescale_ts(packet.get(), encoder->time_base, stream->time_base);
    packet->stream_index = stream->index;
    check("write", av_interleaved_write_frame(output, packet.get()));
    check("write", output->pb->error);
  }
}

void video_writer::state::finish() {
  if (output == nullptr) return;
  if (header_written) {
    encode(nullptr);
    check("finish", av_write_trailer(output));
  }
  check("finish", release());
  if (!file) return;
  try {
    file->finish();
  } catch (std::system_error const& e) {
    throw video_error(fmt::format("cannot finish the video '{}': {}", shown, e.what()));
  }
  file.reset();
}

/// What is there already is better than a video without frames.
void video_writer::state::abandon() {
  release();
  if (file) file->discard();
  file.reset();
}

video_writer::video_writer(std::string const& path, video_format const& format, int encoder_threads,
                           int quality)
    : state_(make_process_ptr<state>()) {
  file_size_errors const errors;
  state_->path = path;
  state_->shown = shown_url(path);
  state_->format = format;
  state_->open(encoder_threads, quality);
}

video_writer::~video_writer() {
  if (!state_ || is_of_parent(state_)) return;
  file_size_errors const errors;
  try {
    state_->frames == 0 ? state_->abandon() : state_->finish();
  } catch (std::exception const&) {  // a destructor cannot report errors; `close` does
  }
}
video_writer::video_writer(video_writer&&) noexcept = default;
video_writer& video_writer::operator=(video_writer&&) noexcept = default;

void video_writer::write(frame_view const& frame, std::optional<std::int64_t> time_stamp) {
  state& s = *state_;
  if (s.output == nullptr)
    throw video_error(fmt::format("cannot write to the video '{}': it is closed", s.shown));
  if (frame.y.width != s.format.width || frame.y.height != s.format.height)
    throw video_error(fmt::format("cannot write to the video '{}': the frame is {}x{}, the video {}x{}",
                                  s.shown, frame.y.width, frame.y.height, s.format.width, s.format.height));
  file_size_errors const errors;
  s.check("encode", av_frame_make_writable(s.picture.get()));
  ffmpeg::planes from(frame);
  av_image_copy(s.picture->data, s.picture->linesize, const_cast<std::uint8_t const**>(from.data),
                from.strides, AV_PIX_FMT_YUV420P, s.picture->width, s.picture->height);
  if (s.frames == 0)
    s.origin = time_stamp.value_or(0);
  else
    s.pts = time_stamp
                ? std::max(s.pts + 1, av_rescale_q(*time_stamp - s.origin, s.tick, s.encoder->time_base))
                : s.pts + s.frame_ticks;
  s.picture->pts = s.pts;
  s.encode(s.picture.get());
  ++s.frames;
}

void video_writer::close() {
  file_size_errors const errors;
  state_->finish();
}
std::string video_writer::encoder() const { return state_->encoder->codec->name; }

}  // namespace rondo::video
