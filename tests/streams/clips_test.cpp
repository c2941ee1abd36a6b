// A clip comes out as it went in: times, colours, shape and sound, through a source, a drawing stage and a sink, on
// each device.
#include "tests/streams/clips.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>
#include <thread>

#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/text/named_field.hpp"
#include "tests/streams/passage.hpp"

using namespace media_test;
using namespace clip_test;

RONDO_EMULATED_MODULE(media_test::clip_stages)

namespace {

void check_colours(contents const& c, colour_description const& as) {
  for (int i = 0; i < 9; ++i) {
    auto const s = clip_test::samples_of(clip_test::patches[i], as);
    INFO("patch " << i << ": " << c.samples[i][0] << ", " << c.samples[i][1] << ", " << c.samples[i][2]);
    CHECK(std::abs(c.samples[i][0] - s.y) <= 2);
    CHECK(std::abs(c.samples[i][1] - s.u) <= 2);
    CHECK(std::abs(c.samples[i][2] - s.v) <= 2);
  }
}

}  // namespace

TEST_CASE("times: steady rates stay exact, and varying ones vary", "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const path = [&](char const* name) { return (dir.directory / name).string(); };
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  for (auto const rate :
       {AVRational{60000, 1001}, AVRational{24, 1}, AVRational{25, 2}, AVRational{30000, 1001}})
    for (auto const* const ending : {".mp4", ".mkv", ".mov", ".avi", ".ts"}) {
      INFO(rate.num << "/" << rate.den << " " << ending);
      auto const in = path("in.mp4"), out = path("out") + ending;
      make({.file = in, .codec = "libx264", .rate = rate});
      auto const o = pass(in, out, {.device = device});
      check_times(o.out.times, at_rate(rate, 20), 0.0011);
      CHECK(av_q2d(o.out.rate) == Approx(av_q2d(rate)).epsilon(1e-4));
      if (std::string_view(ending) == ".mp4") CHECK(o.out.rate.num == rate.num);
    }
  std::vector<double> const uneven{0, 0.04, 0.2, 0.21, 0.9, 1.0, 1.001, 2.5};
  make({.file = path("vfr.mkv"), .times = uneven});
  make({.file = path("vfr-in.mp4"), .codec = "libx264", .times = uneven});
  auto const varying = pass(path("vfr.mkv"), path("vfr.mp4"), {.device = device});
  check_times(varying.out.times, uneven, 0.0011);
  auto const of_mp4 = pass(path("vfr-in.mp4"), path("vfr3.mp4"), {.device = device});
  check_times(of_mp4.out.times, uneven, 0.0011);
  CHECK(of_mp4.out.lasts == Approx(0.5).margin(0.01));
  CHECK(pass(path("vfr.mkv"), path("vfr2.mkv"), lossless(device)).out.times.size() == uneven.size());
  SECTION("a graph's rate does not move the times of one source") {
    auto const o = pass(path("in.mp4"), path("paced.mp4"), {.rate = 200, .device = device});
    check_times(o.out.times, at_rate({30000, 1001}, 20), 0.0011);
  }
  SECTION("a sink's own rate counts") {
    passage p{.device = device};
    p.to.rate = 60000.0 / 1001;
    auto const o = pass(path("in.mp4"), path("asked.mp4"), p);
    check_times(o.out.times, at_rate({60000, 1001}, 20), 1e-4);
    CHECK(o.out.rate.den == 1001);
  }
}

TEST_CASE("with several sources the graph's rate counts, without jitter", "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const in = (dir.directory / "in.mkv").string(), out = (dir.directory / "out.mp4").string();
  make({.file = in, .rate = {10, 1}});
  runtime rt{use<clip_stages>, {.device = "cpu"}};
  streams::graph g{rt, {.rate = 50}};
  auto const from = g.add<file_source>("from", {.file = text_of<1024>(in)});
  auto const small = g.add<test_pattern>("small", {.width = 32, .height = 32});
  auto const both = g.add<compositor>("both");
  auto const to = g.add<file_sink>("to", {.file = text_of<1024>(out)});
  g.connect(from.out<"video">(), both.in<"video">());
  g.connect(small.out<"video">(), both.in<"layer1">());
  g.connect(both.out<"video">(), to.in<"video">());
  g.start();
  REQUIRE(!g.wait(60s));
  auto const c = clip_test::read(out);
  CHECK(c.rate.num == 50);
  for (auto const t : c.times) CHECK(std::abs(t * 50 - std::round(t * 50)) < 0.01);
}

TEST_CASE("colours: range, matrix and tags stay, and what is drawn has them", "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const in = (dir.directory / "in.mkv").string();
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  colour_description const all[] = {{2, 2, 2, 0}, {6, 6, 6, 0},  {1, 1, 1, 0},
                                    {1, 1, 1, 1}, {9, 14, 9, 0}, {6, 6, 6, 1}};
  for (auto const& colours : all)
    for (auto const format :
         {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV422P10, AV_PIX_FMT_YUV420P10}) {
      INFO(int(colours.matrix) << (colours.is_full ? " full " : " limited ") << av_get_pix_fmt_name(format));
      make({.file = in, .format = format, .pictures = 2, .colours = colours});
      auto const o = pass(in, (dir.directory / "out.mkv").string(), lossless(device));
      check_colours(o.out, colours);
      CHECK(o.out.colours == colours);
      CHECK(o.out.format == AV_PIX_FMT_YUV420P);
      bool const deep = format == AV_PIX_FMT_YUV422P10 || format == AV_PIX_FMT_YUV420P10;
      CHECK(deep == (o.remarks.find("its 10 bits a sample become 8") != std::string::npos));
      passage mp4{.device = device};
      mp4.to.quality = 1;
      auto const tagged = pass(in, (dir.directory / "out.mp4").string(), mp4);
      CHECK(tagged.out.colours == colours);
      check_colours(tagged.out, colours);
    }
}

TEST_CASE("colours: RGB becomes BT.601 or, in high pictures, BT.709, and stills are as they were",
          "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const path = [&](char const* name) { return (dir.directory / name).string(); };
  make({.file = path("in.mov"), .codec = "qtrle", .format = AV_PIX_FMT_RGB24, .pictures = 2});
  check_colours(pass(path("in.mov"), path("out.mkv"), lossless()).out, {2, 2, 6, 0});
  make({.file = path("high.mov"),
        .codec = "qtrle",
        .format = AV_PIX_FMT_RGB24,
        .width = 1280,
        .height = 720,
        .pictures = 2});
  auto const high = pass(path("high.mov"), path("high.mkv"), lossless()).out;
  check_colours(high, {2, 2, 1, 0});
  CHECK(high.colours.matrix == 1);
  // Other matrices and ranges, if they are asked for.
  auto other = lossless();
  other.from.matrix = source_matrix::bt709;
  other.from.range = source_range::full;
  make({.file = path("601.mkv"), .pictures = 2, .colours = {6, 6, 6, 0}});
  auto const o = pass(path("601.mkv"), path("709.mkv"), other).out;
  check_colours(o, {6, 6, 1, 1});
  CHECK(o.colours.is_full == 1);
  for (colour_description const& c : {colour_description{1, 1, 1, 0}, colour_description{6, 6, 6, 1}}) {
    make({.file = path("s.mkv"), .pictures = 1, .colours = c});
    passage stills{.draws = false};
    stills.to.pattern = text_of<1024>(path("p%02d.png"));
    pass(path("s.mkv"), "", stills);
    auto const still = clip_test::read(path("p01.png"));
    for (int i = 0; i < 9; ++i) {
      auto const& p = clip_test::patches[i];
      INFO("patch " << i);
      CHECK(std::abs(still.samples[i][0] - p.r) <= 3);
      CHECK(std::abs(still.samples[i][1] - p.g) <= 3);
      CHECK(std::abs(still.samples[i][2] - p.b) <= 3);
    }
  }
}

TEST_CASE("10 bits stay where no stage works on the pictures", "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const in = (dir.directory / "in.mkv").string(), out = (dir.directory / "out.mkv").string();
  make({.file = in,
        .format = AV_PIX_FMT_YUV420P10,
        .pictures = 3,
        .colours = {9, 16, 9, 0},
        .brightest = 1000});
  auto p = lossless();
  p.draws = false;
  auto const o = pass(in, out, p);
  CHECK(o.out.format == AV_PIX_FMT_YUV420P10);
  check_colours(o.out, {9, 16, 9, 0});
  CHECK(o.out.colours.transfer == 16);
  CHECK(o.out.brightest == 1000);
  CHECK_THAT(o.remarks, Contains("PQ or HLG") && !Contains("become 8"));
  CHECK(pass(in, (dir.directory / "out.mp4").string(), {.draws = false}).out.brightest == 1000);
}

TEST_CASE("shape: turned, with pixels that are not square, of odd sizes, interlaced, or transparent",
          "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const path = [&](char const* name) { return (dir.directory / name).string(); };
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");

  SECTION("turned pictures come out upright, and mirrored ones stay right") {
    for (int const degrees : {90, 180, 270}) {
      make({.file = path("in.mp4"), .codec = "libx264", .pictures = 3, .aspect = {4, 3}, .rotate = degrees});
      auto const o = pass(path("in.mp4"), path("out.mkv"), lossless(device)).out;
      bool const swapped = degrees != 180;
      CHECK(o.width == (swapped ? 120 : 160));
      CHECK(o.rotate == 0);
      CHECK(o.aspect.num == (swapped ? 3 : 4));
      // The white patch was the first one.
      int const white = degrees == 90 ? 2 : degrees == 180 ? 8 : 6;
      CHECK(o.samples[white][0] > 230);
      auto as_is = lossless(device);
      as_is.from.turn = false;
      as_is.to.codec = "libx264";
      auto const kept = pass(path("in.mp4"), path("kept.mp4"), as_is).out;
      CHECK(kept.width == 160);
      CHECK((kept.rotate + 360) % 360 == degrees);
    }
    // Right and left are exchanged.
    make({.file = path("in.mp4"), .codec = "libx264", .pictures = 3, .rotate = 180, .mirrored = true});
    CHECK(pass(path("in.mp4"), path("mirrored.mkv"), lossless(device)).out.samples[6][0] > 230);
  }
  SECTION("aspects") {
    for (auto const aspect : {AVRational{16, 11}, AVRational{8, 9}, AVRational{1, 1}})
      for (auto const* const ending : {".mp4", ".mkv", ".mov"}) {
        make({.file = path("in.mkv"), .pictures = 3, .aspect = aspect});
        auto const o = pass(path("in.mkv"), path("out") + ending, {.device = device}).out;
        CHECK(o.aspect.num == aspect.num);
        CHECK(o.aspect.den == aspect.den);
      }
    auto scaled = lossless(device);
    scaled.from.width = 320;
    scaled.from.height = 120;
    make({.file = path("in.mkv"), .pictures = 3});
    CHECK(av_q2d(pass(path("in.mkv"), path("scaled.mkv"), scaled).out.aspect) == Approx(0.5));
  }
  SECTION("odd sizes lose their last column and row, or grow") {
    for (auto const format : {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV422P}) {
      make({.file = path("in.mkv"), .format = format, .width = 641, .height = 479, .pictures = 2});
      auto const o = pass(path("in.mkv"), path("out.mkv"), lossless(device));
      CHECK(o.out.width == 640);
      CHECK(o.out.height == 478);
      check_colours(o.out, {});
      CHECK_THAT(o.remarks, Contains("row and column are left out"));
      auto grown = lossless(device);
      grown.from.odd = odd_size::pad;
      auto const p = pass(path("in.mkv"), path("grown.mkv"), grown);
      CHECK(p.out.width == 642);
      CHECK(p.out.height == 480);
    }
  }
  SECTION("interlaced pictures become progressive, or stay") {
    make({.file = path("in.mkv"), .codec = "libx264", .pictures = 6, .interlaced = true});
    auto const o = pass(path("in.mkv"), path("out.mp4"), {.device = device}).out;
    CHECK_FALSE(o.interlaced);
    check_times(o.times, at_rate({25, 1}, 6), 0.0011);
    passage keeps{.device = device};
    keeps.from.deinterlace = interlaced_as::as_it_is;
    CHECK(pass(path("in.mkv"), path("kept.mp4"), keeps).out.interlaced);
  }
  SECTION("opacities stay where the file holds them, and else one line says so") {
    make(
        {.file = path("in.mov"), .codec = "qtrle", .format = AV_PIX_FMT_ARGB, .pictures = 3, .opacity = 128});
    auto keeps = lossless(device);
    auto const o = pass(path("in.mov"), path("out.mkv"), keeps).out;
    CHECK(o.format == AV_PIX_FMT_YUVA420P);
    CHECK(std::abs(o.samples[5][3] - 128) <= 1);
    auto const opaque = pass(path("in.mov"), path("out.mp4"), {.device = device});
    CHECK_THAT(opaque.remarks, Contains("opacities are left out"));
    passage webm{.device = device};
    webm.to.quality = 0;
    auto const w = pass(path("in.mov"), path("out.webm"), webm).out;
    CHECK(std::abs(w.samples[5][3] - 128) <= 1);
  }
}

TEST_CASE("sound passes as it is, with its times, also when it is longer than the pictures", "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const path = [&](char const* name) { return (dir.directory / name).string(); };
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  struct both {
    char const *in, *codec, *out;
  };
  for (auto const& b : {both{"in.mp4", "aac", "out.mp4"}, both{"in.mkv", "aac", "out.mkv"},
                        both{"in.mkv", "flac", "out.mkv"}, both{"in.mkv", "libopus", "out.webm"},
                        both{"in.mov", "pcm_s16le", "out.mov"}, both{"in.mkv", "libmp3lame", "out.mp4"}}) {
    INFO(b.in << " " << b.codec << " " << b.out);
    make({.file = path(b.in), .codec = "libx264", .sound = b.codec, .sound_seconds = 1.7});
    auto const before = clip_test::read(path(b.in));
    auto const o = pass(path(b.in), path(b.out), {.device = device});
    CHECK(o.out.times.size() == 20);
    CHECK(o.out.heard == before.heard);
    CHECK(o.out.heard_from == Approx(before.heard_from).margin(0.002));
    CHECK(o.remarks.empty());
  }
  SECTION("a container that does not hold the codec has it encoded again, and one line says so") {
    make({.file = path("in.mp4"), .codec = "libx264", .sound = "aac", .sound_seconds = 1});
    auto const o = pass(path("in.mp4"), path("out.webm"), {.device = device});
    CHECK(o.out.sound_codec == "opus");
    CHECK_THAT(o.remarks, Contains("encoded again, as opus"));
  }
  SECTION("a graph without its sound says so once") {
    make({.file = path("in.mp4"), .codec = "libx264", .sound = "aac", .sound_seconds = 1});
    auto const o = pass(path("in.mp4"), path("mute.mp4"), {.device = device, .with_sound = false});
    CHECK(o.out.sound_codec.empty());
    CHECK_THAT(o.remarks, Contains("sound are left out"));
  }
  SECTION("a title is left out, and one line says so") {
    make({.file = path("in.mkv"), .title = "A walk in the park"});
    auto const o = pass(path("in.mkv"), path("out.mkv"), {.device = device});
    CHECK_THAT(o.remarks, Contains("its metadata (title) is left out"));
  }
}

TEST_CASE("a part of a clip, again and again, and pictures in and out", "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const path = [&](char const* name) { return (dir.directory / name).string(); };
  make({.file = path("in.mp4"), .codec = "libx264", .pictures = 100, .sound = "aac", .sound_seconds = 4});
  passage part;
  part.from.from = 1;
  part.from.to = 3;
  auto const o = pass(path("in.mp4"), path("part.mp4"), part).out;
  check_times(o.times, at_rate({25, 1}, 50), 0.0011);
  CHECK(std::abs(static_cast<double>(o.heard.size()) - 2 * 48000.0 / 1024) < 3);
  passage numbered;
  numbered.to.pattern = text_of<1024>(path("p%03d.png"));
  pass(path("in.mp4"), "", numbered);
  CHECK(std::filesystem::exists(path("p100.png")));
  passage again;
  again.from.pattern = text_of<1024>(path("p%03d.png"));
  again.from.rate = 10;
  check_times(pass("", path("again.mkv"), again).out.times, at_rate({10, 1}, 100), 0.0011);
}

TEST_CASE("names are names, and what can be read once is read once", "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const path = [&](char const* name) { return (dir.directory / name).string(); };
  make({.file = path("in.mkv")});
  for (auto const* const name : {"2026-11-26T12:30:00.mkv", "frame%03d.mkv", "a b.mkv", "file:x.mkv"}) {
    std::filesystem::copy_file(path("in.mkv"), path(name));
    CHECK(pass(path(name), path("out:1.mkv"), {}).out.times.size() == 20);
  }
  REQUIRE(::mkfifo(path("pipe").c_str(), 0600) == 0);
  std::jthread const writes([&] {
    std::ifstream in(path("in.mkv"), std::ios::binary);
    std::ofstream(path("pipe"), std::ios::binary) << in.rdbuf();
  });
  CHECK(pass(path("pipe"), path("out.mkv"), {}).out.times.size() == 20);
}

TEST_CASE("pictures that are decoded before the beginning are the same, with the same times and sound",
          "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const path = [&](char const* name) { return (dir.directory / name).string(); };
  make({.file = path("in.mkv"), .times = {0, 0.04, 0.2, 0.21, 0.5, 0.9}, .sound = "libopus"});
  auto const plain = pass(path("in.mkv"), path("plain.mkv"), lossless()).out;
  for (auto const pictures : {3u, 6u, 100u}) {
    auto p = lossless();
    p.from.preload = pictures;
    auto const out = pass(path("in.mkv"), path("out.mkv"), p).out;
    check_times(out.times, plain.times, 1e-9);
    CHECK(out.heard == plain.heard);
    CHECK(std::ranges::equal(std::span(&out.samples[0][0], 36), std::span(&plain.samples[0][0], 36)));
  }
}

TEST_CASE("containers are what their endings say, and unknown ones are refused by name", "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const path = [&](char const* name) { return (dir.directory / name).string(); };
  make({.file = path("in.mkv"), .pictures = 5});
  for (auto const& [ending, format] : std::vector<std::pair<std::string, std::string>>{{".mkv", "matroska"},
                                                                                       {".webm", "matroska"},
                                                                                       {".avi", "avi"},
                                                                                       {".mov", "mov"},
                                                                                       {".gif", "gif"},
                                                                                       {".ts", "mpegts"}}) {
    auto const out = path("out") + ending;
    pass(path("in.mkv"), out, {});
    AVFormatContext* raw = nullptr;
    REQUIRE(avformat_open_input(&raw, out.c_str(), nullptr, nullptr) == 0);
    clip_test::ffmpeg::input const in(raw);
    CHECK_THAT(in->iformat->name, Contains(format));
  }
  auto const refusal = [&](file_sink::options o) {
    runtime rt{use<clip_stages>, {.device = "cpu"}};
    streams::graph g{rt, {.ticks = 1}};
    auto const from = g.add<test_pattern>("from");
    auto const to = g.add<file_sink>("to", o);
    g.connect(from.out<"video">(), to.in<"video">());
    return error_of([&] { g.start(); });
  };
  CHECK_THAT(refusal({.file = text_of<1024>(path("x.txt"))}), Contains("'.txt'") && Contains(".mkv"));
  CHECK_THAT(refusal({.file = text_of<1024>(path("x.jpg"))}), Contains("still_sink"));
  CHECK_THAT(refusal({.file = text_of<1024>(path("x.mp4")), .codec = "nonsense"}), Contains("'nonsense'"));
  CHECK_THAT(refusal({.file = text_of<1024>(path("x.webm")), .codec = "ffv1"}),
             Contains("webm") && Contains("ffv1"));
  CHECK_THAT(refusal({.file = text_of<1024>(path("x")), .container = "nonsense"}), Contains("'nonsense'"));
}

TEST_CASE("a waveform takes sound as samples, and a file then has it encoded", "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const path = [&](char const* name) { return (dir.directory / name).string(); };
  make({.file = path("in.mp4"), .codec = "libx264", .sound = "aac", .sound_seconds = 0.8});
  make({.file = path("silent.mp4"), .codec = "libx264"});
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  auto const draw = [&](std::string const& in, std::string const& out) {
    runtime rt{use<clip_stages>, {.device = device == "cpu" ? "cpu" : "cpu," + device}};
    streams::graph g{rt, {.warn = [](std::string const&) {}}};
    auto const from = g.add<file_source>("from", {.file = text_of<1024>(in)});
    auto const wave = g.add<waveform>("wave", {.height = 0.5F}, {.device = device == "cpu" ? 0u : 1u});
    auto const to = g.add<file_sink>("to", {.file = text_of<1024>(out)});
    g.connect(from.out<"video">(), wave.in<"video">());
    g.connect(from.out<"sound">(), wave.in<"sound">());
    g.connect(from.out<"sound">(), to.in<"sound">());
    g.connect(wave.out<"video">(), to.in<"video">());
    g.start();
    CHECK(!g.wait(60s));
    CHECK(g.explain().find(in == path("in.mp4") ? "48000 Hz, 2 channels, samples" : "no sound") !=
          std::string::npos);
    return clip_test::read(out);
  };
  auto const heard = draw(path("in.mp4"), path("out.mp4"));
  CHECK(heard.sound_codec == "aac");
  CHECK(static_cast<double>(heard.heard.size()) * 1024 / 48'000 == Approx(0.8).margin(0.07));
  CHECK(heard.times.size() == 20);
  CHECK(draw(path("silent.mp4"), path("quiet.mp4")).sound_codec.empty());
}

TEST_CASE("a stage refuses frames that it does not take, by name", "[clips]") {
  runtime rt{use<clip_stages>, {.device = "cpu"}};
  streams::graph g{rt};
  auto const pattern = g.add<test_pattern>("pattern", {.width = 64, .height = 64});
  auto const to = g.add<file_sink>("to", {.file = "x.mp4", .pattern = "y%02d.png"});
  g.connect(pattern.out<"video">(), to.in<"video">());
  CHECK_THAT(error_of([&] { g.start(); }), Contains("'to'") && Contains("one of them"));
  // Sound that was never packets of this process, which a sink is given by a source of another kind.
  CHECK_FALSE(image{.width = 16, .height = 16, .format = pixel_format::i420_10}.is_plain());
  CHECK_FALSE(sound{.codec = 1}.is_plain());
}

TEST_CASE("a field of a name is replaced, and one in double braces stands for itself", "[clips]") {
  CHECK(with_field("a{n}b{n}", "n", "7") == "a7b7");
  CHECK(with_field("a{{n}}b", "n", "7") == "a{n}b");
  CHECK(with_field("{n}}{{n}", "n", "7") == "7}{7");
  CHECK(with_field("{m}", "n", "7") == "{m}");
}

TEST_CASE("what lies beside a file that is written stays as it is", "[clips]") {
  rondo_test::scratch_directory const dir("clips");
  auto const path = [&](char const* name) { return (dir.directory / name).string(); };
  make({.file = path("in.mkv"), .pictures = 5});
  std::ofstream(path("somebody's")) << "a text";
  std::filesystem::create_symlink(path("somebody's"), path("out.mp4.part.whole"));
  CHECK(pass(path("in.mkv"), path("out.mp4"), {}).out.times.size() == 5);
  std::string text;
  std::getline(std::ifstream(path("somebody's")), text);
  CHECK(text == "a text");
  std::vector<std::string> names;
  for (auto const& e : std::filesystem::directory_iterator(dir.directory))
    names.push_back(e.path().filename());
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"in.mkv", "out.mp4", "somebody's"});
}
