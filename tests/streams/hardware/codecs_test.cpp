// Codecs of a GPU and other hardware: each that FFmpeg has works on this machine, or is refused with FFmpeg's reason.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "actors/video/ffmpeg/encoder_pictures.hpp"
#include "actors/video/files/video_reader.hpp"
#include "actors/video/files/video_writer.hpp"
#include "actors/video/hardware/decoder_choice.hpp"
#include "actors/video/hardware/encoder_hardware.hpp"
#include "tests/streams/clips.hpp"
#include "tests/streams/media_bed.hpp"

extern "C" {
#include <libavutil/opt.h>
}

namespace hardware_test {

using namespace media_test;
namespace fs = std::filesystem;

/// What this process prints on stderr while it lives.
class printed {
 public:
  explicit printed(fs::path file) : file_(std::move(file)), before_(::dup(2)) {
    int const to = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(to, 2);
    ::close(to);
  }
  ~printed() {
    ::dup2(before_, 2);
    ::close(before_);
  }
  printed(printed const&) = delete;
  printed& operator=(printed const&) = delete;
  std::string text() const {
    std::stringstream all;
    all << std::ifstream(file_).rdbuf();
    return all.str();
  }

 private:
  fs::path file_;
  int before_;
};

std::size_t open_files() {
  auto const all = fs::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

image shape(pixel_format format = pixel_format::i420) {
  image i{320, 240};
  i.rate_num = 25;
  i.rate_den = 1;
  i.format = format;
  return i;
}

/// A gradient that moves with n, in every plane, of all the values that samples of video have.
std::vector<std::byte> picture(image const& about, int n) {
  std::vector<std::byte> data(about.bytes());
  auto const planes = planes_at(about, data.data());
  bool const deep = about.format == pixel_format::i420_10;
  for (int p = 0; p < 3; ++p)
    for (int y = 0; y < planes.of[p].height; ++y)
      for (int x = 0; x < planes.of[p].width / (deep ? 2 : 1); ++x) {
        int const value = 16 + (x + y + 3 * n + 40 * p) % 220;
        if (deep)
          reinterpret_cast<std::uint16_t*>(planes.of[p].row(y))[x] =
              static_cast<std::uint16_t>(4 * value + x % 4);
        else
          planes.of[p].row(y)[x] = static_cast<std::uint8_t>(value);
      }
  return data;
}

void write(std::string const& file, std::string const& codec, int pictures = 5) {
  auto const about = shape();
  video_writer writer(file, {.codec = codec});
  writer.begin(about);
  for (int n = 0; n < pictures; ++n)
    writer.write(picture(about, n).data(), {static_cast<std::uint64_t>(n) * 40'000'000, 0});
  writer.close();
}

/// How far the pictures of a file are from those that `write` wrote, in the mean; -1: they are not as many.
double error_of_file(std::string const& file, std::string const& decoder, int pictures = 5) {
  video_reader reader(video_source{.name = file}, {.decoder = decoder});
  double sum = 0;
  int n = 0;
  std::vector<std::byte> read(reader.about().bytes());
  for (; reader.next(); ++n) {
    reader.get(read.data());
    auto const wrote = picture(shape(), n);
    if (read.size() != wrote.size()) return -1;
    for (std::size_t i = 0; i < read.size(); ++i) sum += std::abs(int(read[i]) - int(wrote[i]));
  }
  return n == pictures ? sum / n / static_cast<double>(read.size()) : -1;
}

TEST_CASE("each encoder of hardware works here, or is refused with FFmpeg's reason", "[hardware]") {
  rondo_test::scratch_directory const dir("hardware");
  auto const file = (dir.directory / "clip.nut").string();
  auto const all = ffmpeg::hardware_encoders();
  REQUIRE(all.size() > 5);
  static_cast<void>(ffmpeg::why_unusable(*all.front()));  // libraries that stay loaded
  auto const files_before = open_files();
  std::string leaked;
  for (auto const* const encoder : all) {
    INFO(encoder->name);
    std::string why = "another error: ";
    {
      av_log_set_level(AV_LOG_INFO);  // as it is before a first video
      printed const printed_by_ffmpeg(dir.directory / "stderr");
      try {
        write(file, encoder->name);
        why.clear();
      } catch (video_device_error const& e) {
        why = e.what();
      } catch (video_error const& e) {
        why += e.what();
      }
      leaked += printed_by_ffmpeg.text();
    }
    INFO(why);
    if (why.empty()) {
      auto const error = error_of_file(file, "auto");
      CHECK((error >= 0 && error < 6));
      fs::remove(file);
      continue;
    }
    CHECK_THAT(why, Contains(std::string("no hardware that ") + encoder->name + " can use (") &&
                        Contains("clip.nut") && Contains("leave out `codec`"));
    CHECK_THAT(why, !Contains("()"));
    CHECK(!fs::exists(file));
    CHECK(!fs::exists(file + ".part"));
  }
  CHECK(leaked == "");
  CHECK(open_files() == files_before);
}

TEST_CASE("a codec's first encoder of hardware that works is found, or all are named with their reasons",
          "[hardware]") {
  rondo_test::scratch_directory const dir("hardware");
  auto const file = (dir.directory / "clip.mkv").string();
  std::string first;
  auto const all = ffmpeg::hardware_encoders(AV_CODEC_ID_H264);
  for (auto const* const e : all)
    if (first.empty() && ffmpeg::why_unusable(*e).empty()) first = e->name;
  auto const why = error_of([&] { write(file, "h264_hardware"); });
  INFO(why);
  if (!first.empty()) {
    CHECK(why == "no error");
    CHECK(video_writer(file, {.codec = "h264_hardware"}).encoder() == first);
    return;
  }
  for (auto const* const e : all) CHECK_THAT(why, Contains(std::string(e->name) + ": "));
  CHECK_THAT(why, Contains("an encoder for h264"));
  if (avcodec_find_encoder_by_name("libx264") != nullptr) CHECK_THAT(why, Contains("or use libx264"));
  CHECK_THAT(error_of([&] { write(file, "ffv1_hardware"); }), Contains("no video encoder 'ffv1_hardware'"));
}

TEST_CASE("a graph whose encoder or decoder needs hardware that is not here fails as unavailable",
          "[hardware]") {
  rondo_test::scratch_directory const dir("hardware");
  auto const file = (dir.directory / "clip.mp4").string(), out = (dir.directory / "out.mp4").string();
  write(file, "mpeg4");
  auto const end_of = [&](char const* codec, char const* decoder) {
    runtime rt{use<media_test::stages>, {.device = "cpu"}};
    streams::graph g{rt};
    auto const from =
        g.add<file_source>("from", {.file = text_of<1024>(file), .decoder = text_of<32>(decoder)});
    auto const to = g.add<file_sink>("to", {.file = text_of<1024>(out), .codec = text_of<32>(codec)});
    g.connect(from.out<"video">(), to.in<"video">());
    try {
      g.start();
      if (!g.wait(60s)) return std::pair(streams::fault::stage, std::string("it ran"));
      return std::pair(g.failed_by(), std::string(g.why_failed()));
    } catch (streams::graph_error const& e) {
      return std::pair(e.of, std::string(e.what()));
    }
  };
  if (!ffmpeg::why_unusable(*avcodec_find_encoder_by_name("h264_vaapi")).empty()) {
    auto const [fault, why] = end_of("h264_vaapi", "auto");
    INFO(why);
    CHECK(fault == streams::fault::unavailable);
    CHECK_THAT(why, Contains("no hardware that h264_vaapi can use"));
  }
  auto const [fault, why] = end_of("", "videotoolbox");  // FFmpeg on Linux never has it
  INFO(why);
  CHECK(fault == streams::fault::unavailable);
  CHECK_THAT(why, Contains(file) && Contains("no decoder 'videotoolbox' for mpeg4"));
  CHECK_THAT(end_of("", "nonsense").second, Contains("no decoder 'nonsense'") && Contains("hardware, "));
  CHECK(end_of("", "mpeg4").second == "it ran");  // the name of a decoder for the processor
}

TEST_CASE("each decoder of hardware reads a video as the processor does, or is refused with FFmpeg's reason",
          "[hardware]") {
  rondo_test::scratch_directory const dir("hardware");
  std::size_t tried = 0;
  std::string leaked;
  std::size_t files_before = 0;
  // Without libx265, which leaks memory in FFmpeg 5.1.
  for (auto const* const codec : {"libx264", "libvpx", "libvpx-vp9", "mpeg2video", "mpeg4", "mjpeg"}) {
    if (avcodec_find_encoder_by_name(codec) == nullptr) continue;
    auto const file = (dir.directory / "clip.nut").string();
    write(file, codec);
    auto const on_processor = error_of_file(file, "auto");
    REQUIRE(on_processor >= 0);
    auto const id = avcodec_find_encoder_by_name(codec)->id;
    std::set<std::string> names{"hardware"};
    for (auto const& choice : ffmpeg::decoders_for("hardware", *avcodec_find_decoder(id)))
      names.insert(choice.name());
    for (auto const& name : names) {
      INFO(codec << " by " << name);
      std::string why = "another error: ";
      {
        printed const printed_by_ffmpeg(dir.directory / "stderr");
        try {
          auto const error = error_of_file(file, name);
          why.clear();
          CHECK(std::abs(error - on_processor) < 0.1);
        } catch (video_device_error const& e) {
          why = e.what();
        } catch (video_error const& e) {
          why += e.what();
        }
        leaked += printed_by_ffmpeg.text();
      }
      if (!why.empty())
        CHECK_THAT(
            why, Contains("no hardware for the decoder '" + name + "' (") && Contains("leave out `decoder`"));
      CHECK_THAT(why, !Contains(": ;") && !Contains(": )"));
      if (++tried == 1) files_before = open_files();
    }
  }
  CHECK(tried > 5);
  CHECK(leaked == "");
  CHECK(open_files() == files_before);
}

TEST_CASE(
    "a device that does not decode a video is refused at its first picture, and later the processor goes on",
    "[opencl]") {
  // Plays FFmpeg, which asks for a format once with the device's, and again without it.
  ffmpeg::decoder_hardware hardware;
  ffmpeg::codec_context const decoder(avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_H264)));
  hardware.attach(*decoder);
  CHECK(decoder->hw_device_ctx == nullptr);  // no choice was opened: FFmpeg does as it likes
  CHECK(decoder->opaque == nullptr);
  ffmpeg::decoder_choice const choice{decoder->codec, AV_HWDEVICE_TYPE_OPENCL, AV_PIX_FMT_OPENCL};
  if (hardware.open(choice) < 0) {
    WARN("skipped: no OpenCL device that FFmpeg can use");
    return;
  }
  hardware.attach(*decoder);
  REQUIRE(decoder->hw_device_ctx != nullptr);
  AVPixelFormat const with[] = {AV_PIX_FMT_CUDA, AV_PIX_FMT_OPENCL, AV_PIX_FMT_YUV420P, AV_PIX_FMT_NONE},
                      without[] = {AV_PIX_FMT_CUDA, AV_PIX_FMT_YUV420P, AV_PIX_FMT_NONE};
  CHECK(decoder->get_format(decoder.get(), with) == AV_PIX_FMT_OPENCL);
  CHECK(!hardware.has_refused());
  CHECK(decoder->get_format(decoder.get(), without) == AV_PIX_FMT_NONE);
  CHECK(hardware.has_refused());
  REQUIRE(hardware.open(choice) >= 0);
  hardware.begin();  // later, the processor takes what the device does not
  CHECK(decoder->get_format(decoder.get(), without) == AV_PIX_FMT_YUV420P);
  CHECK(!hardware.has_refused());
}

TEST_CASE("pictures go to a device's memory and come back as they were", "[opencl]") {
  // OpenCL's frames, which the processor has, too, in place of those that encoders take.
  auto const about = shape();
  ffmpeg::device_frames frames;
  AVPixelFormat const wanted[] = {AV_PIX_FMT_NV21, AV_PIX_FMT_YUV420P};
  ffmpeg::buffer device;
  if (ffmpeg::open_device(AV_HWDEVICE_TYPE_OPENCL, device) < 0) {
    WARN("skipped: no OpenCL device that FFmpeg can use");
    return;
  }
  REQUIRE(frames.open(AV_HWDEVICE_TYPE_OPENCL, AV_PIX_FMT_OPENCL, wanted, about.width, about.height) >= 0);
  CHECK(frames.host_format() == AV_PIX_FMT_YUV420P);
  encoder_pictures pictures(about, avcodec_find_encoder(AV_CODEC_ID_MPEG4), "clip.mp4", frames.host_format());
  ffmpeg::frame first;
  for (int n = 0; n < 3; ++n) {
    auto const data = picture(about, n);
    auto* const made = pictures.make(data.data());
    made->pts = 7 + n;
    AVFrame* there = nullptr;
    REQUIRE(frames.upload(*made, there) >= 0);
    CHECK(there->format == AV_PIX_FMT_OPENCL);
    CHECK(there->pts == 7 + n);
    ffmpeg::frame const back(av_frame_clone(there));
    back->crop_left = 8;  // as a decoder notes it
    back->crop_top = 2;
    REQUIRE(ffmpeg::download(*back) >= 0);
    CHECK(back->format == AV_PIX_FMT_YUV420P);
    CHECK(back->pts == 7 + n);
    REQUIRE(back->width == about.width - 8);
    REQUIRE(back->height == about.height - 2);
    int wrong = 0;
    for (int p = 0; p < 3; ++p)
      for (int y = 0; y < back->height / (p == 0 ? 1 : 2); ++y)
        for (int x = 0; x < back->width / (p == 0 ? 1 : 2); ++x)
          wrong += back->data[p][y * back->linesize[p] + x] !=
                   made->data[p][(y + (p == 0 ? 2 : 1)) * made->linesize[p] + x + (p == 0 ? 8 : 4)];
    CHECK(wrong == 0);
    CHECK(ffmpeg::download(*back) >= 0);  // it is on the host: nothing changes
    CHECK(back->width == about.width - 8);
    if (n == 0) first.reset(av_frame_clone(there));
  }
  // One that an encoder still holds is not written again.
  REQUIRE(ffmpeg::download(*first) >= 0);
  CHECK(first->data[0][0] == static_cast<std::uint8_t>(picture(about, 0)[0]));
}

TEST_CASE("pictures keep their samples in the formats that encoders of hardware take", "[hardware]") {
  auto const check = [](image const& about, char const* encoder, AVPixelFormat expected) {
    auto const* const codec = avcodec_find_encoder_by_name(encoder);
    if (codec == nullptr) {
      WARN("this FFmpeg has no " << encoder);
      return;
    }
    INFO(encoder);
    ffmpeg::encoder_hardware hardware;
    REQUIRE(hardware.open(*codec, about) >= 0);
    CHECK(hardware.host_format() == expected);
    encoder_pictures pictures(about, codec, "clip.mp4", hardware.host_format());
    CHECK(pictures.remarks().empty() == (about.format == pixel_format::i420 || expected == AV_PIX_FMT_P010));
    if (!pictures.remarks().empty()) return;
    auto const data = picture(about, 1);
    auto const* const made = pictures.make(data.data());
    auto const planes = planes_at(about, data.data());
    auto const* const d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(made->format));
    int wrong = 0;
    for (int p = 0; p < 3; ++p)
      for (int y = 0; y < planes.of[p].height; ++y)
        for (int x = 0; x < about.width / (p == 0 ? 1 : 2); ++x) {
          auto const& c = d->comp[p];
          auto const* const at = made->data[c.plane] + y * made->linesize[c.plane] + x * c.step + c.offset;
          if (about.format == pixel_format::i420_10)
            wrong += *reinterpret_cast<std::uint16_t const*>(at) >> c.shift !=
                     reinterpret_cast<std::uint16_t const*>(planes.of[p].row(y))[x];
          else
            wrong += *at != planes.of[p].row(y)[x];
        }
    CHECK(wrong == 0);
  };
  check(shape(), "h264_nvenc", AV_PIX_FMT_YUV420P);
  check(shape(), "h264_qsv", AV_PIX_FMT_NV12);
  check(shape(pixel_format::i420_10), "h264_nvenc", AV_PIX_FMT_YUV420P);  // it has 8 bits
  check(shape(pixel_format::i420_10), "hevc_nvenc", AV_PIX_FMT_P010);
  check(shape(pixel_format::i420_10), "hevc_qsv", AV_PIX_FMT_P010);
  check(shape(pixel_format::i420a), "hevc_nvenc",
        AV_PIX_FMT_YUV420P);  // its formats with opacities lose them
  check(shape(), "h264_v4l2m2m", AV_PIX_FMT_YUV420P);
}

TEST_CASE("a decoder of hardware's pictures keep their samples: those with pairs of colours become planes",
          "[hardware]") {
  rondo_test::scratch_directory const dir("hardware");
  auto const file = (dir.directory / "clip.nut").string();
  for (auto const format : {AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P}) {
    INFO(av_get_pix_fmt_name(format));
    clip_test::make({.file = file, .codec = "rawvideo", .format = format, .pictures = 2});
    video_reader reader(file);
    REQUIRE(reader.next());
    std::vector<std::byte> data(reader.about().bytes());
    reader.get(data.data());
    auto const planes = planes_at(reader.about(), data.data());
    for (int patch = 0; patch < 9; ++patch) {
      auto const s = clip_test::samples_of(clip_test::patches[patch], reader.about().colours);
      double const expected[] = {s.y, s.u, s.v};
      for (int p = 0; p < 3; ++p) {
        auto const& plane = planes.of[p];
        auto const value =
            plane.at((2 * (patch % 3) + 1) * plane.width / 6, (2 * (patch / 3) + 1) * plane.height / 6);
        CHECK(value == std::lround(expected[p]));
      }
    }
  }
}

TEST_CASE("what is asked of an encoder of hardware are options that it has", "[hardware]") {
  for (auto const* const codec : ffmpeg::hardware_encoders())
    for (int const quality : {0, 1, 20, 51})
      for (int const bit_rate : {0, 3000}) {
        INFO(codec->name << " at " << quality << ", " << bit_rate);
        ffmpeg::codec_context const encoder(avcodec_alloc_context3(codec));
        encoder->width = 1920;
        encoder->height = 1080;
        encoder->framerate = {25, 1};
        AVDictionary* options = nullptr;
        auto const remarks = ffmpeg::set_hardware_quality(*encoder, {"", quality, bit_rate}, options);
        CHECK(av_opt_set_dict2(encoder.get(), &options, AV_OPT_SEARCH_CHILDREN) >= 0);
        CHECK(av_dict_count(options) == 0);
        av_dict_free(&options);
        std::string_view const name = codec->name;
        if (bit_rate != 0) {
          CHECK(encoder->bit_rate == 3'000'000);
          CHECK(remarks == "");
        } else if (name.ends_with("_v4l2m2m") || name.ends_with("_omx")) {  // they have no quality
          CHECK_THAT(remarks, Contains("thousand bits per second"));
          if (quality == 20) CHECK(encoder->bit_rate == 5'184'000);
        } else if (name.ends_with("_vaapi") || name.ends_with("_qsv")) {
          CHECK(encoder->global_quality > 0);
          if (codec->id == AV_CODEC_ID_H264 && quality > 0) CHECK(encoder->global_quality == quality);
          if (codec->id == AV_CODEC_ID_MJPEG && quality > 0) CHECK(encoder->global_quality == 100 - quality);
        } else if (name.ends_with("_nvenc")) {
          double cq = -1;
          CHECK(av_opt_get_double(encoder->priv_data, "cq", 0, &cq) >= 0);
          CHECK(cq == quality);
        }
      }
}

TEST_CASE("a preset that an encoder of hardware does not have is refused with those that it has",
          "[hardware]") {
  if (avcodec_find_encoder_by_name("h264_nvenc") == nullptr) {
    WARN("this FFmpeg has no h264_nvenc");
    return;
  }
  auto const why =
      error_of([] { video_writer("/nowhere/clip.mp4", {.codec = "h264_nvenc", .preset = "fastest"}); });
  CHECK_THAT(why, Contains("h264_nvenc has no preset 'fastest'") && Contains("p1, p2") &&
                      Contains("/nowhere/clip.mp4"));
  CHECK_THAT(error_of([] { video_writer("/nowhere/clip.mp4", {.codec = "h264_nvenc", .preset = "p1"}); }),
             Contains("no hardware") || Contains("directory does not exist"));
}

}  // namespace hardware_test
