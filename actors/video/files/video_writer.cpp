#include "actors/video/files/video_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "actors/video/ffmpeg/encoder_pictures.hpp"
#include "actors/video/ffmpeg/light_metadata.hpp"
#include "actors/video/ffmpeg/sound_track.hpp"
#include "actors/video/files/whole_mp4.hpp"
#include "actors/video/hardware/encoder_hardware.hpp"
#include "actors/video/hardware/kept_reports.hpp"
#include "runtime/files/file_size_errors.hpp"
#include "runtime/files/part_file.hpp"
#include "runtime/text/shown_url.hpp"

extern "C" {
#include <libavutil/display.h>
#include <libavutil/opt.h>
}

namespace rondo::video {

namespace {

/// What a name's ending says. Encoders by preference.
struct container_kind {
  char const* ending;
  char const* container;  // FFmpeg's name
  char const* encoders[3];
};
constexpr container_kind kinds[] = {
    {".mp4", "mp4", {"libx264", "mpeg4"}},
    {".m4v", "mp4", {"libx264", "mpeg4"}},
    {".mov", "mov", {"libx264", "mpeg4"}},
    {".mkv", "matroska", {"libx264", "mpeg4"}},
    {".webm", "webm", {"libvpx-vp9", "libvpx"}},
    {".avi", "avi", {"libx264", "mpeg4"}},
    {".ts", "mpegts", {"libx264", "mpeg2video"}},
    {".flv", "flv", {"libx264", "flv"}},
    {".gif", "gif", {"gif"}},
    {".nut", "nut", {"libx264", "mpeg4"}},
};
constexpr container_kind picture_kinds[] = {
    {".png", "image2", {"png"}}, {".jpg", "image2", {"mjpeg"}}, {".jpeg", "image2", {"mjpeg"}},
    {".bmp", "image2", {"bmp"}}, {".tiff", "image2", {"tiff"}}, {".ppm", "image2", {"ppm"}},
};

std::string ending_of(std::string const& path) {
  auto ending = std::filesystem::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

template <class Kinds>
container_kind const* kind_of(Kinds const& all, std::string const& path) {
  auto const found =
      std::ranges::find_if(all, [ending = ending_of(path)](auto const& k) { return ending == k.ending; });
  return found == std::end(all) ? nullptr : &*found;
}

constexpr std::int64_t least_of_gif = 2;  // hundredths of a second: less is shown as ten by most programs
constexpr int varying_ticks = 90'000;     // a second, of pictures without a steady rate

}  // namespace

struct video_writer::state {
  std::string path, shown;  // shown: for messages
  writing how;
  std::optional<part_file> file;
  AVOutputFormat const* container = nullptr;
  AVCodec const* codec = nullptr;
  AVFormatContext* output = nullptr;
  std::optional<encoder_pictures> pictures;
  std::optional<ffmpeg::encoder_hardware> hardware;  // of an encoder that needs some
  std::optional<sound_track> heard;
  ffmpeg::codec_context encoder;
  ffmpeg::packet packet = ffmpeg::new_packet();
  AVStream* stream = nullptr;
  image about;
  std::int64_t frames = 0;
  std::int64_t begins_ns = 0;
  std::int64_t packets = 0, last_ns = 0;  // for make_whole
  std::int64_t frame_ticks = 0;           // of the encoder's; 0: there is no steady rate
  std::int64_t pts = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>>
      durations;  // of the pictures in the encoder: pts, and how long
  bool header_written = false;
  std::set<std::string> remarked;

  ~state() { abandon(); }
  bool is_pattern() const noexcept { return how.of == video_name::pattern; }
  void choose();
  void open_file();
  void begin(image const& of, sound const* with);
  void open_encoder();
  void choose_ticks();
  void set_options(AVDictionary*& options);
  void remark_limits(sound const* with);
  std::int64_t pts_for(shown_time const& when);
  void encode(AVFrame const* f);
  void put(AVPacket& p, AVStream& to, AVRational tick);
  void drain();
  void finish();
  void abandon();
  int release();
  void remark(std::string const& text) {
    if (how.remark && !text.empty() && remarked.insert(text).second) how.remark(text);
  }
  [[noreturn]] void fail(char const* what, int error, std::string const& why = {});
  /// Fails if `result` is an error.
  void check(char const* what, int result) {
    if (result < 0) fail(what, result);
  }
};

/// Closes the file. Returns an error that only closing reveals.
int video_writer::state::release() {
  int result = 0;
  if (output != nullptr) {
    if (output->pb != nullptr && (output->oformat->flags & AVFMT_NOFILE) == 0) {
      int const earlier = output->pb->error;
      result = avio_closep(&output->pb);
      if (earlier < 0) result = earlier;
    }
    avformat_free_context(std::exchange(output, nullptr));
  }
  return result;
}

/// `why`: what is known besides the error.
void video_writer::state::fail(char const* what, int error, std::string const& why) {
  std::string const advice =
      !why.empty()               ? why
      : error == AVERROR(ENOSPC) ? "the disk is full; free some space or choose another place"
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

/// The container and the encoder, by name.
void video_writer::state::choose() {
  auto const* const kind = is_pattern() ? kind_of(picture_kinds, path) : kind_of(kinds, path);
  auto const names = [](auto const& all) {
    std::string text;
    for (auto const& k : all) text += fmt::format("{}{}", text.empty() ? "" : ", ", k.ending);
    return text;
  };
  std::string name = how.container;
  bool const is_direct = how.of == video_name::url || is_written_directly(path);
  if (name.empty() && kind != nullptr) name = kind->container;
  if (name.empty() && is_direct) name = "mp4";  // a pipe, or a device
  if (name.empty() && !is_pattern() && kind_of(picture_kinds, path) != nullptr)
    throw video_error(
        fmt::format("cannot write '{}': its ending is that of a picture; use the stage still_sink, or give "
                    "numbered pictures as `pattern`, such as frame%04d.png",
                    shown));
  if (name.empty())
    throw video_error(
        fmt::format("cannot write '{}': the ending '{}' is of no known container; known are {}; or name "
                    "one as `container`",
                    shown, ending_of(path), is_pattern() ? names(picture_kinds) : names(kinds)));
  container = av_guess_format(name.c_str(), nullptr, nullptr);
  if (container == nullptr)
    throw video_error(fmt::format("cannot write '{}': this FFmpeg has no container '{}'", shown, name));
  if (auto const* const first = ffmpeg::any_hardware(how.codec); first != nullptr) {
    codec = first;
  } else if (!how.codec.empty()) {
    codec = avcodec_find_encoder_by_name(how.codec.c_str());
    if (codec == nullptr)
      if (auto const* const d = avcodec_descriptor_get_by_name(how.codec.c_str()); d != nullptr)
        codec = avcodec_find_encoder(d->id);
    if (codec == nullptr || codec->type != AVMEDIA_TYPE_VIDEO)
      throw video_error(fmt::format(
          "cannot write '{}': this FFmpeg has no video encoder '{}'; `ffmpeg -encoders` lists them", shown,
          how.codec));
  } else {
    auto const* const of = kind != nullptr ? kind : &kinds[0];
    for (auto const* const candidate : of->encoders)
      if (codec == nullptr && candidate != nullptr) codec = avcodec_find_encoder_by_name(candidate);
    if (!how.container.empty() && codec != nullptr &&
        avformat_query_codec(container, codec->id, FF_COMPLIANCE_NORMAL) == 0)
      codec = avcodec_find_encoder(container->video_codec);
    if (codec == nullptr)
      throw video_error(fmt::format("cannot write '{}': this FFmpeg has no encoder for {}", shown, name));
  }
  if (avformat_query_codec(container, codec->id, FF_COMPLIANCE_NORMAL) == 0)
    throw video_error(fmt::format("cannot write '{}': a {} file does not hold {}", shown, container->name,
                                  avcodec_get_name(codec->id)));
  if (!ffmpeg::is_hardware(*codec)) return;
  codec = ffmpeg::usable_encoder(*codec, how.codec == codec->name, how.preset, shown);
  hardware.emplace();
}

void video_writer::state::open_file() {
  av_log_set_level(AV_LOG_FATAL);  // errors are reported by this class, with the file's name
  std::string url = path == "-" ? "pipe:1" : "file:" + path;
  if (is_pattern()) {
    auto const folder = std::filesystem::path(path).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder)) fail("create", AVERROR(ENOENT));
  } else if (how.of == video_name::url) {
    url = path;
  } else {
    try {
      file.emplace(path);
    } catch (std::system_error const& e) {
      auto const error = AVERROR(e.code().value());
      if (error == AVERROR(ENOENT) && path.find("://") != path.npos)
        throw video_error(
            fmt::format("cannot create the video '{}': its directory does not exist; a server's address is "
                        "to be given as `url`, "
                        "not as `file`",
                        shown));
      if (error == AVERROR(ENOENT) || error == AVERROR(EACCES)) fail("create", error);
      throw video_error(fmt::format("cannot create the video '{}': {}", shown, e.what()));
    }
    // The muxer opens it again by this name, to put the index in front.
    if (path != "-") url = "file:" + file->path();
  }
  check("create", avformat_alloc_output_context2(&output, container, nullptr, url.c_str()));
  if ((container->flags & AVFMT_NOFILE) == 0)
    check("create", avio_open(&output->pb, url.c_str(), AVIO_FLAG_WRITE));
  output->flags |= AVFMT_FLAG_FLUSH_PACKETS;
}

/// The encoder's ticks: a steady rate meets them exactly, and they are fine enough for a picture beside it.
void video_writer::state::choose_ticks() {
  bool const steady = about.rate_num != 0 && about.rate_den != 0;
  AVRational const rate{static_cast<int>(about.rate_num), static_cast<int>(std::max(about.rate_den, 1u))};
  std::string_view const name = container->name;
  // Their headers say a rate by the ticks.
  bool const ticks_are_rate =
      name == "avi" || is_pattern() || codec->id == AV_CODEC_ID_MPEG4 || codec->id == AV_CODEC_ID_MPEG2VIDEO;
  frame_ticks = 0;
  if (codec->id == AV_CODEC_ID_GIF) {
    encoder->time_base = {1, 100};
    if (steady) frame_ticks = std::max<std::int64_t>(1, std::llround(100.0 * rate.den / rate.num));
  } else if (steady && ticks_are_rate) {
    encoder->time_base = av_inv_q(rate);
    frame_ticks = 1;
  } else if (steady) {
    int fine = 1;
    while (rate.num * fine < 10'000) ++fine;
    encoder->time_base = {1, rate.num * fine};
    frame_ticks = std::int64_t{rate.den} * fine;
  } else {
    encoder->time_base = {1, ticks_are_rate ? 1000 : varying_ticks};
  }
  if (steady) encoder->framerate = rate;
  encoder->gop_size = how.key_every > 0 ? how.key_every
                      : steady          ? std::max(2, static_cast<int>(std::lround(2 * av_q2d(rate))))
                                        : 60;
}

/// What each encoder calls quality, speed and memory.
void video_writer::state::set_options(AVDictionary*& options) {
  if (hardware) {
    auto const remarks =
        ffmpeg::set_hardware_quality(*encoder, {how.preset, how.quality, how.bit_rate}, options);
    return remark(remarks.empty() ? "" : fmt::format("'{}': {}", shown, remarks));
  }
  auto const set = [&options](char const* key, std::string const& value) {
    av_dict_set(&options, key, value.c_str(), 0);
  };
  std::string_view const by = codec->name;
  bool const is_x26 = by == "libx264" || by == "libx265", is_vpx = by.starts_with("libvpx");
  if (is_x26) {
    set("preset", how.preset.empty() ? "veryfast" : how.preset);
    if (how.low_memory)
      set(by == "libx264" ? "x264-params" : "x265-params", "rc-lookahead=0:sync-lookahead=0:mbtree=0");
  } else if (is_vpx) {
    set("deadline", "good");
    set("cpu-used", how.preset.empty() ? "5" : how.preset);
    set("row-mt", "1");
    set("lag-in-frames", how.low_memory ? "0" : "8");
  }
  if (how.bit_rate > 0) {
    encoder->bit_rate = std::int64_t{how.bit_rate} * 1000;
  } else if (is_x26) {
    set("crf", std::to_string(how.quality));
  } else if (is_vpx) {
    if (how.quality == 0) set("lossless", "1");
    set("crf", std::to_string(std::clamp(how.quality * 3 / 2, 0, 63)));
  } else {
    encoder->flags |= AV_CODEC_FLAG_QSCALE;
    encoder->global_quality = std::clamp(how.quality * 3 / 20, 1, 31) * FF_QP2LAMBDA;
  }
}

void video_writer::state::open_encoder() {
  encoder.reset(avcodec_alloc_context3(codec));
  if (!encoder) throw std::bad_alloc();
  choose_ticks();
  encoder->width = about.width;
  encoder->height = about.height;
  encoder->pix_fmt = pictures->format();
  encoder->sample_aspect_ratio = {about.aspect_num, std::max<int>(about.aspect_den, 1)};
  encoder->max_b_frames = 0;  // a fragmented file has no edit list to compensate their delay
  encoder->thread_count = how.threads;
  ffmpeg::set_colours(*encoder, pictures->colours());
  if (about.fields != field_order::progressive) {
    encoder->flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME;
    encoder->field_order = about.fields == field_order::top_first ? AV_FIELD_TT : AV_FIELD_BB;
  }
  if ((container->flags & AVFMT_GLOBALHEADER) != 0) encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  std::optional<ffmpeg::kept_reports> reports;
  if (hardware) {
    reports.emplace();
    hardware->attach(*encoder);
  }
  AVDictionary* options = nullptr;
  set_options(options);
  int const result = avcodec_open2(encoder.get(), codec, &options);
  av_dict_free(&options);
  if (result < 0) fail("encode", result, reports ? reports->why(result) : "");
  durations.reserve(512);  // more than an encoder holds
}

/// What the container or the codec cannot hold.
void video_writer::state::remark_limits(sound const* with) {
  std::string_view const name = container->name;
  auto const say = [&](std::string const& what) { remark(fmt::format("'{}': {}", shown, what)); };
  if (!pictures->remarks().empty()) say(pictures->remarks());
  if (name == "gif" && about.rate_num != 0 && 100 * std::uint64_t{about.rate_den} % about.rate_num != 0)
    say("GIF shows pictures at hundredths of a second");
  if (name == "gif") say("GIF has 256 colours a picture");
  if (name == "avi" && about.rate_num == 0)
    say("AVI has one rate: pictures are shown at the nearest millisecond");
  if (about.aspect_num != about.aspect_den && (name == "gif" || is_pattern() || name == "avi"))
    say("pixels that are not square: the file cannot say so");
  if (about.turned != 0 && name != "mp4" && name != "mov")
    say(fmt::format("the pictures are turned: a {} file cannot say so", container->name));
  if (with != nullptr && with->channels != 0 && container->audio_codec == AV_CODEC_ID_NONE)
    say(fmt::format("a {} file holds no sound", container->name));
}

void video_writer::state::begin(image const& of, sound const* with) {
  about = of;
  if (about.width < 2 || about.height < 2 || about.width % 2 != 0 || about.height % 2 != 0)
    throw video_error(fmt::format("cannot write the video '{}': {}x{} pixels are not a video's", shown,
                                  about.width, about.height));
  if (about.rate_num > 1'000'000'000 || about.rate_den > 1'000'000'000)
    about.rate_num = 0, about.rate_den = 1;
  if (hardware) {
    ffmpeg::kept_reports const reports;
    int const result = hardware->open(*codec, about);
    if (result < 0) fail("encode", result, reports.why(result));
  }
  pictures.emplace(about, codec, path, hardware ? hardware->host_format() : AV_PIX_FMT_NONE);
  remark_limits(with);
  open_encoder();
  stream = avformat_new_stream(output, nullptr);
  if (stream == nullptr) throw std::bad_alloc();
  stream->time_base = encoder->time_base;
  stream->avg_frame_rate = frame_ticks != 0 ? encoder->framerate : AVRational{0, 1};
  stream->sample_aspect_ratio = encoder->sample_aspect_ratio;
  check("create", avcodec_parameters_from_context(stream->codecpar, encoder.get()));
  if (about.format == pixel_format::i420a && codec->id == AV_CODEC_ID_VP9)
    av_dict_set(&stream->metadata, "alpha_mode", "1", 0);
  add_light_metadata(*stream, about.light);
  if (about.turned != 0) {
    auto* const matrix = reinterpret_cast<std::int32_t*>(
        av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, 9 * sizeof(std::int32_t)));
    if (matrix == nullptr) throw std::bad_alloc();
    av_display_rotation_set(matrix, 90.0 * (about.turned & 3));
    if ((about.turned & 4) != 0) av_display_matrix_flip(matrix, about.turned & 1, 1 - (about.turned & 1));
  }
  if (with != nullptr && with->channels != 0 && container->audio_codec != AV_CODEC_ID_NONE)
    heard.emplace(*output, *with, shown, [this](std::string const& text) { remark(text); });

  AVDictionary* options = nullptr;
  std::string_view const name = container->name;
  if (name == "mp4" || name == "mov") {
    av_dict_set(&options, "movflags", "frag_keyframe+default_base_moof+delay_moov", 0);
    if ((output->pb->seekable & AVIO_SEEKABLE_NORMAL) != 0)  // not of a FIFO
      av_dict_set(&options, "movflags", "+global_sidx", AV_DICT_APPEND);
  } else if (name == "gif") {
    av_dict_set(&options, "loop", "0", 0);
  }
  int const result = avformat_write_header(output, &options);
  av_dict_free(&options);
  check("start", result);
  header_written = true;
  if (output->pb == nullptr) return;
  avio_flush(output->pb);
  check("start", output->pb->error);
}

std::int64_t video_writer::state::pts_for(shown_time const& when) {
  auto const tick = encoder->time_base;
  auto const most = std::numeric_limits<std::int64_t>::max() / 1'000'000;
  auto const ns = std::min(when.time_ns, static_cast<std::uint64_t>(most));
  auto at = av_rescale_q(static_cast<std::int64_t>(ns), ffmpeg::nanoseconds, tick);
  if (frame_ticks > 1) {
    // A time beside the steady rate by no more than a container's millisecond is the rate's.
    auto const steady = (at + frame_ticks / 2) / frame_ticks * frame_ticks;
    auto const beside = std::abs(static_cast<double>(at - steady)) * av_q2d(tick);
    if (beside < 0.0011) at = steady;
  }
  return frames == 0 ? at : std::max(pts + 1, at);
}

void video_writer::state::put(AVPacket& p, AVStream& to, AVRational tick) {
  av_packet_rescale_ts(&p, tick, to.time_base);
  p.stream_index = to.index;
  ++packets;
  check("write", av_interleaved_write_frame(output, &p));
  if (output->pb != nullptr) check("write", output->pb->error);
}

/// Sends a frame (null: the end) to the encoder and writes what comes out.
void video_writer::state::encode(AVFrame const* f) {
  check("encode", avcodec_send_frame(encoder.get(), f));
  for (;;) {
    int const result = avcodec_receive_packet(encoder.get(), packet.get());
    if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return;
    check("encode", result);
    auto const known =
        std::ranges::find(durations, packet->pts, &std::pair<std::int64_t, std::int64_t>::first);
    if (known != durations.end()) {
      packet->duration = known->second;
      *known = durations.back();
      durations.pop_back();
    }
    put(*packet, *stream, encoder->time_base);
  }
}

/// What the encoder has is written; it begins anew with the next picture.
void video_writer::state::drain() {
  encode(nullptr);
  durations.clear();
}

void video_writer::state::finish() {
  if (output == nullptr) return;
  if (header_written) {
    if (encoder) encode(nullptr);
    if (heard)
      heard->finish([this](AVPacket& p, AVStream& to, AVRational tick) {
        if (p.pts != AV_NOPTS_VALUE) p.pts -= av_rescale_q(begins_ns, ffmpeg::nanoseconds, tick);
        p.dts = p.pts;
        put(p, to, tick);
      });
    check("finish", av_write_trailer(output));
  }
  if (!header_written) return abandon();
  std::string_view const name = container->name;
  check("finish", release());
  if (!file) return;
  if ((name == "mp4" || name == "mov") && !file->is_direct())
    static_cast<void>(make_whole(file->path(), container->name, packets, last_ns));
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

video_writer::video_writer(std::string const& path, writing how) : state_(make_process_ptr<state>()) {
  file_size_errors const errors;
  state_->path = path;
  state_->shown = shown_url(path);
  state_->how = std::move(how);
  state_->choose();
  state_->open_file();
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

void video_writer::begin(image const& pictures, sound const* heard, std::uint64_t begins_ns) {
  file_size_errors const errors;
  state_->begins_ns = static_cast<std::int64_t>(begins_ns);
  state_->begin(pictures, heard);
}
bool video_writer::has_begun() const noexcept { return state_->header_written; }

void video_writer::write(std::byte const* data, shown_time const& when) {
  state& s = *state_;
  if (s.output == nullptr)
    throw video_error(fmt::format("cannot write to the video '{}': it is closed", s.shown));
  file_size_errors const errors;
  if (!s.encoder) s.open_encoder();
  auto const pts = s.pts_for(when);
  if (s.codec->id == AV_CODEC_ID_GIF && s.frames != 0 && pts < s.pts + least_of_gif)
    return s.remark(
        fmt::format("'{}': GIF shows at most 50 pictures a second: others are left out", s.shown));
  auto* picture = s.pictures->make(data);
  if (s.hardware) s.check("encode", s.hardware->give(picture));
  s.pts = pts;
  picture->pts = s.pts;
  auto const lasts =
      when.lasts_ns != 0
          ? av_rescale_q(static_cast<std::int64_t>(std::min<std::uint64_t>(when.lasts_ns, 1ull << 60)),
                         ffmpeg::nanoseconds, s.encoder->time_base)
          : s.frame_ticks;
  s.last_ns = lasts > 0 ? av_rescale_q(lasts, s.encoder->time_base, ffmpeg::nanoseconds) : 0;
  bool const is_steady = s.frame_ticks > 1 && std::abs(lasts - s.frame_ticks) * 100 < s.frame_ticks;
  if (lasts > 0) s.durations.emplace_back(s.pts, is_steady ? s.frame_ticks : lasts);
  s.encode(picture);
  ++s.frames;
}

void video_writer::write_sound(std::byte const* data) {
  state& s = *state_;
  if (!s.heard || s.output == nullptr) return;
  file_size_errors const errors;
  s.heard->write(data, [&s](AVPacket& p, AVStream& to, AVRational tick) {
    auto const moved = av_rescale_q(s.begins_ns, ffmpeg::nanoseconds, tick);
    if (p.pts != AV_NOPTS_VALUE) p.pts -= moved;
    if (p.dts != AV_NOPTS_VALUE) p.dts -= moved;
    s.put(p, to, tick);
  });
}

void video_writer::flush() {
  state& s = *state_;
  if (!s.header_written || s.output == nullptr || s.frames == 0) return;
  file_size_errors const errors;
  if (s.encoder) s.drain();
  s.encoder.reset();
  s.check("write", av_interleaved_write_frame(s.output, nullptr));
  // The first of these may write an index alone, and the second one what it is for.
  for (int part = 0; part < 2; ++part) s.check("write", av_write_frame(s.output, nullptr));
  if (s.output->pb == nullptr) return;
  avio_flush(s.output->pb);
  s.check("write", s.output->pb->error);
}

void video_writer::close() {
  file_size_errors const errors;
  state_->finish();
}
std::string video_writer::encoder() const { return state_->codec->name; }

}  // namespace rondo::video
