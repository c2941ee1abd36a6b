// Video files, stills and cameras: what is written is read back, and what is missing or damaged is named.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "actors/video/files/video_reader.hpp"
#include "tests/forked.hpp"
#include "tests/streams/media_bed.hpp"

using namespace media_test;

TEST_CASE("a video is written and read back, picture by picture", "[media]") {
  rondo_test::scratch_directory const dir("media");
  auto const file = (dir.directory / "clip.mp4").string();
  auto const written = write_clip(file, 60);
  auto const read = read_clip({.file = text_of<1024>(file)});
  REQUIRE(read.shown.all.size() == 60);
  CHECK(read.error == "");
  CHECK(read.processed == 61);  // the last tick finds the end
  for (std::size_t n = 0; n < 60; n += 7) CHECK(mean_error(written, n, read.shown, n) < 2.5);
  CHECK(mean_error(written, 0, read.shown, 30) > mean_error(written, 0, read.shown, 0));  // they move

  SECTION("scaled") {
    auto const small = read_clip({.file = text_of<1024>(file), .width = 80, .height = 60});
    CHECK(small.shown.about.fits(image{80, 60}));
    CHECK(small.shown.all.size() == 60);
  }
  SECTION("again and again") {
    auto const often = read_clip({.file = text_of<1024>(file), .loop = true}, 150);
    REQUIRE(often.shown.all.size() == 150);
    CHECK(mean_error(often.shown, 0, often.shown, 60) == 0);
    CHECK(mean_error(often.shown, 29, often.shown, 149) == 0);
  }
  SECTION("at the times of its ticks") {
    video_reader reader(file);
    std::int64_t pictures = 0;
    for (; reader.next(); ++pictures)
      CHECK(std::abs(static_cast<double>(reader.time_ns()) / 1e9 - static_cast<double>(pictures) / 30) <
            0.001);
    CHECK(pictures == 60);
  }
}

TEST_CASE("a video source says why it cannot open a file", "[media]") {
  rondo_test::scratch_directory const dir("media");
  auto const wrong = (dir.directory / "wrong.mp4").string();
  std::ofstream(wrong) << "this is no video, but a text that says so\n";
  auto const why = [](std::string const& file) {
    return read_clip({.file = text_of<1024>(file), .width = 64, .height = 64}).error +
           read_clip({.file = text_of<1024>(file)}).error;
  };
  CHECK_THAT(why("/nowhere/clip.mp4"),
             Contains("'from'") && Contains("/nowhere/clip.mp4") && Contains("no such file"));
  CHECK_THAT(why(wrong), Contains(wrong) && Contains("not a video"));
  CHECK_THAT(why(""), Contains("has no file"));
  CHECK_THAT(read_clip({.url = "http://127.0.0.1:1/clip.mp4"}).error, Contains("refused"));
  CHECK_THAT(why("http://127.0.0.1:1/clip.mp4"), Contains("no such file") && Contains("as `url`"));
  CHECK_THAT(read_clip({.file = text_of<1024>(wrong), .width = 64}).error,
             Contains("64x0") && Contains("both"));
}

TEST_CASE("no message about a video shows the password of its server", "[media]") {
  for (auto const* const url :
       {"http://user:SECRET@127.0.0.1:1/clip.mp4", "http://127.0.0.1:1/clip.mp4?token=SECRET",
        "nonsense://user:SECRET@host/a", "user:SECRET@host/a"}) {
    auto const why = read_clip({.url = text_of<1024>(url)}).error;
    INFO(why);
    CHECK_THAT(why, Contains("cannot open the video"));
    CHECK_THAT(why, !Contains("SECRET"));
  }
}

TEST_CASE("a video without a video stream is refused", "[media]") {
  rondo_test::scratch_directory const dir("media");
  auto const sound = (dir.directory / "sound.wav").string();
  // A second of silence.
  unsigned char const header[] = {'R', 'I', 'F',  'F',  0x64, 0x1f, 0,    0,    'W',  'A', 'V',
                                  'E', 'f', 'm',  't',  ' ',  16,   0,    0,    0,    1,   0,
                                  1,   0,   0x40, 0x1f, 0,    0,    0x40, 0x1f, 0,    0,   1,
                                  0,   8,   0,    'd',  'a',  't',  'a',  0x40, 0x1f, 0,   0};
  std::ofstream out(sound, std::ios::binary);
  out.write(reinterpret_cast<char const*>(header), sizeof header);
  out << std::string(8000, '\x80');
  out.close();
  CHECK_THAT(read_clip({.file = text_of<1024>(sound)}).error, Contains(sound) && Contains("no video stream"));
}

TEST_CASE("a video that is cut short fails its graph, after the pictures that there are", "[media]") {
  rondo_test::scratch_directory const dir("media");
  auto const file = (dir.directory / "clip.mp4").string();
  write_clip(file, 120);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  auto const read = read_clip({.file = text_of<1024>(file)});
  CHECK(read.shown.all.size() > 10);
  CHECK(read.shown.all.size() < 110);
  CHECK(read.shown.all.size() + 1 == read.processed);  // all of them arrive
  CHECK_THAT(read.error, Contains("graph/from") && Contains(file) && Contains("ended early"));
}

TEST_CASE("damaged pictures are counted and logged, and the others are read", "[media]") {
  rondo_test::scratch_directory const dir("media");
  auto const file = (dir.directory / "clip.mp4").string();
  write_clip(file, 120);
  std::string bytes(std::filesystem::file_size(file), 0);
  std::ifstream(file, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  auto const first = bytes.find("mdat");
  REQUIRE(first != std::string::npos);
  for (std::size_t at = first + 3000; at < first + 4500 && at < bytes.size(); at += 10)
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  auto const read = read_clip({.file = text_of<1024>(file)});
  CHECK(read.damage_reports > 0);
  CHECK(read.error == "");
  CHECK(read.shown.all.size() > 60);
}

TEST_CASE("a video sink names the file that it cannot write", "[media]") {
  auto const refusal = [](file_sink::options const& o) {
    runtime rt{use<media_test::stages>, {.device = "cpu"}};
    streams::graph g{rt, {.ticks = 3}};
    auto const pattern = g.add<test_pattern>("pattern");
    auto const to = g.add<file_sink>("to", o);
    g.connect(pattern.out<"video">(), to.in<"video">());
    return error_of([&] {
      g.start();
      if (g.wait(60s)) throw std::runtime_error(g.why_failed());
    });
  };
  CHECK_THAT(refusal({.file = "/nowhere/clip.mp4"}),
             Contains("'to'") && Contains("/nowhere/clip.mp4") && Contains("does not exist"));
  CHECK_THAT(refusal({.file = "/dev/full"}), Contains("/dev/full") && Contains("full"));
  CHECK_THAT(refusal({.file = "x.mp4", .quality = 99}), Contains("'quality' is 99"));
  CHECK_THAT(refusal({}), Contains("has no file"));
}

TEST_CASE("a file that cannot grow fails the graph with its name, and what was written plays", "[media]") {
  rondo_test::scratch_directory const dir("media");
  auto const file = (dir.directory / "clip.mp4").string();
  limited_files const limit(100'000);
  runtime rt{use<media_test::stages>, {.device = "cpu"}};
  streams::graph g{rt, {.ticks = 3000}};
  auto const pattern = g.add<test_pattern>("pattern", {.width = 320, .height = 240});
  auto const to = g.add<file_sink>("to", {.file = text_of<1024>(file), .rate = 30, .quality = 1});
  g.connect(pattern.out<"video">(), to.in<"video">());
  g.start();
  CHECK(g.wait(120s) == errc::handler_failed);
  CHECK_THAT(g.why_failed(), Contains("graph/to") && Contains(file));
  CHECK(g.counts(to).processed < 3000);
}

TEST_CASE("the file is complete when its graph was stopped, or has failed, and still lives", "[media]") {
  rondo_test::scratch_directory const dir("media");
  auto const file = (dir.directory / "clip.mp4").string();
  auto const stills = (dir.directory / "{tick}").string();
  bool const fails = GENERATE(false, true);
  if (fails) std::filesystem::create_directory(dir.directory / "000030");  // where a picture is to be written
  runtime rt{use<media_test::stages>, {.device = "cpu"}};
  streams::graph g{rt};
  auto const pattern = g.add<test_pattern>("pattern", {.width = 64, .height = 64});
  auto const to = g.add<file_sink>("to", {.file = text_of<1024>(file)});
  auto const also = g.add<still_sink>("also", {.file = text_of<1024>(stills), .every = 30});
  g.connect(pattern.out<"video">(), to.in<"video">());
  g.connect(pattern.out<"video">(), also.in<"video">());
  g.start();
  if (fails) {
    CHECK(g.wait(60s) == errc::handler_failed);
    CHECK_THAT(g.why_failed(), Contains("graph/also") && Contains("000030"));
  } else {
    REQUIRE(eventually([&] { return g.counts(to).processed > 20; }));
    CHECK(!g.stop());
  }
  auto const read = read_clip({.file = text_of<1024>(file)});
  CHECK(read.error == "");
  CHECK(read.shown.all.size() > 0);
  if (!fails) CHECK(read.shown.all.size() == g.counts(to).processed);
}

TEST_CASE(
    "what a forked child destroys of a graph and its files stays whole in the parent, and the child runs a "
    "graph of its own",
    "[media][fork]") {
  rondo_test::scratch_directory const dir("media");
  struct running {
    explicit running(std::string const& file) {
      pattern = g->add<test_pattern>("pattern", {.width = 64, .height = 64});
      to = g->add<file_sink>("to", {.file = text_of<1024>(file)});
      g->connect(pattern.out<"video">(), to.in<"video">());
      g->start();
    }
    void process(std::uint64_t more) const {
      auto const before = g->counts(to).processed;
      if (!eventually([&] { return g->counts(to).processed > before + more; }))
        throw std::runtime_error("it stands still");
    }
    std::unique_ptr<runtime> rt = std::make_unique<runtime>(use<media_test::stages>, config{.device = "cpu"});
    std::unique_ptr<streams::graph> g = std::make_unique<streams::graph>(*rt);
    streams::stage_ref<test_pattern> pattern;
    streams::stage_ref<file_sink> to;
  };
  auto const file = (dir.directory / "clip.mp4").string(), of_child = (dir.directory / "child.mp4").string();
  std::optional<running> r(std::in_place, file);
  r->process(20);
  REQUIRE(rondo_test::exit_status_of_child([&] {
            r.reset();
            if (!rondo_test::children_have_threads) return 7;
            running mine(of_child);
            mine.process(20);
            return mine.g->stop() ? 1 : 7;
          }) == 7);
  r->process(20);
  REQUIRE(!r->g->stop());
  for (auto const& one : {file, of_child}) {
    if (one == of_child && !rondo_test::children_have_threads) continue;
    auto const read = read_clip({.file = text_of<1024>(one)});
    CHECK(read.error == "");
    CHECK(read.damage_reports == 0);
    CHECK(read.shown.all.size() > 20);
    if (one == file) CHECK(read.shown.all.size() == r->g->counts(r->to).processed);
  }
}

namespace {

/// The names of the pictures that a still_sink writes of 25 ticks, the first of which is `tick_of_first` in its file.
std::vector<std::string> stills(still_sink::options how,
                                std::function<void(streams::graph&)> const& while_it_runs = {}) {
  rondo_test::scratch_directory const dir("media");
  runtime rt{use<media_test::stages>, {.device = "cpu"}};
  streams::graph g{rt, {.ticks = while_it_runs ? 0u : 25u}};
  auto const pattern = g.add<test_pattern>("pattern", {.width = 64, .height = 48});
  how.file = text_of<1024>((dir.directory / "{tick}.png").string());
  auto const to = g.add<still_sink>("to", how);
  g.connect(pattern.out<"video">(), to.in<"video">());
  g.trigger();  // to no effect
  g.start();
  if (while_it_runs) {
    while_it_runs(g);
    REQUIRE(!g.stop());
  }
  REQUIRE(!g.wait(60s));
  g.trigger();
  std::vector<std::string> names;
  for (auto const& e : std::filesystem::directory_iterator(dir.directory)) {
    names.push_back(e.path().filename());
    video_reader picture(e.path().string());
    CHECK(picture.width() == 64);
    CHECK(picture.height() == 48);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("stills are written at every so many ticks, from one on, up to a number of them", "[media]") {
  using names = std::vector<std::string>;
  CHECK(stills({.every = 10}) == names{"000000.png", "000010.png", "000020.png"});
  CHECK(stills({.every = 10, .first = 7}) == names{"000007.png", "000017.png"});
  CHECK(stills({.every = 4, .first = 2, .most = 3}) == names{"000002.png", "000006.png", "000010.png"});
  CHECK(stills({.on_request = true}).empty());
}

TEST_CASE("stills are written on request, one for each", "[media]") {
  auto const written = stills({.on_request = true}, [](streams::graph& g) {
    for (int i = 0; i < 3; ++i) {
      auto const seen = g.counts_of(1).processed;
      REQUIRE(eventually([&] { return g.counts_of(1).processed > seen + 2; }));
      g.trigger();
      auto const asked = g.counts_of(1).processed;
      REQUIRE(eventually([&] { return g.counts_of(1).processed > asked + 2; }));
    }
  });
  CHECK(written.size() == 3);
}

TEST_CASE("a camera that is missing, or is none, is named", "[media]") {
  auto const refusal = [](char const* device) {
    runtime rt{use<media_test::stages>, {.device = "cpu"}};
    streams::graph g{rt};
    camera::options o;
    REQUIRE(o.device.assign(device, std::strlen(device)));
    auto const from = g.add<camera>("from", o);
    auto const to = g.add<null_sink>("to");
    g.connect(from.out<"video">(), to.in<"video">());
    return error_of([&] { g.start(); });
  };
  CHECK_THAT(refusal("/dev/video-none"),
             Contains("'from'") && Contains("/dev/video-none") && Contains("no such device"));
  CHECK_THAT(refusal("/etc/passwd"), Contains("/etc/passwd") && Contains("not a device"));
  CHECK_THAT(refusal("/dev/null"), Contains("/dev/null") && Contains("no camera"));
}
