// Video and picture files: frames that were written are read back, and every failure is reported with its reason.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "actors/video/files/still.hpp"
#include "actors/video/files/video_reader.hpp"
#include "actors/video/files/video_writer.hpp"
#include "tests/catch.hpp"

namespace fs = std::filesystem;
using namespace rondo;
using Catch::Matchers::Contains;

namespace {

struct picture {
  picture(int w, int h) : memory(video::frame_bytes(w, h)) {
    video::carver c(memory.data());
    view = video::carve_frame(c, w, h);
  }
  /// A gradient with a bright square that moves with n.
  void paint(int n) {
    for (int y = 0; y < view.y.height; ++y)
      for (int x = 0; x < view.y.width; ++x) view.y.at(x, y) = static_cast<std::uint8_t>(40 + (x + y) % 100);
    for (int y = 20; y < 40; ++y)
      for (int x = n; x < n + 20; ++x) view.y.at(x, y) = 220;
    for (auto const& plane : {view.u, view.v})
      for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x) plane.at(x, y) = static_cast<std::uint8_t>(100 + x / 4);
  }
  std::vector<std::byte> memory;
  video::frame_view view;
};

/// A directory that is removed with the object.
struct folder {
  folder() {
    std::string name = (fs::temp_directory_path() / "rondo_video_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~folder() { fs::remove_all(path); }
  std::string file(char const* name) const { return (path / name).string(); }
  fs::path path;
};

video::image shape(int width, int height, std::uint32_t rate_num = 25, std::uint32_t rate_den = 1) {
  video::image i{width, height};
  i.rate_num = rate_num;
  i.rate_den = rate_den;
  return i;
}

/// A picture of a clip at a rate.
video::shown_time at(video::image const& i, int n) {
  return {static_cast<std::uint64_t>(n) * 1'000'000'000 * i.rate_den / i.rate_num, 0};
}

bool read(video::video_reader& from, picture& to) {
  if (!from.next()) return false;
  from.get(to.memory.data());
  return true;
}

void write_clip(std::string const& path, int frames, video::image const& format = shape(128, 96)) {
  video::video_writer writer(path, video::writing{});
  writer.begin(format);
  picture p(format.width, format.height);
  for (int n = 0; n < frames; ++n) {
    p.paint(n % 60);
    writer.write(p.memory.data(), at(format, n));
  }
  writer.close();
  writer.close();  // allowed, without effect
}

double mean_difference(video::frame_view const& a, video::frame_view const& b) {
  double sum = 0;
  for (int y = 0; y < a.y.height; ++y)
    for (int x = 0; x < a.y.width; ++x) sum += std::abs(a.y.at(x, y) - b.y.at(x, y));
  return sum / (a.y.width * a.y.height);
}

}  // namespace

TEST_CASE("a written video is read back frame by frame", "[video]") {
  folder const dir;
  write_clip(dir.file("a.mp4"), 75);
  video::video_reader reader(dir.file("a.mp4"));
  CHECK(reader.width() == 128);
  CHECK(reader.height() == 96);
  CHECK(reader.about().rate() == Approx(25.0));
  CHECK(reader.frame_count_estimate() == 75);
  picture got(128, 96), expected(128, 96);
  int n = 0;
  for (; read(reader, got); ++n) {
    expected.paint(n % 60);
    REQUIRE(mean_difference(got.view, expected.view) < 4);
    REQUIRE(std::abs(got.view.u.at(30, 20) - expected.view.u.at(30, 20)) < 8);
  }
  CHECK(n == 75);
  CHECK(reader.error().empty());
  CHECK_FALSE(read(reader, got));
}

TEST_CASE("a rate that is a fraction stays one", "[video]") {
  folder const dir;
  write_clip(dir.file("a.mp4"), 5, shape(100, 76, 30000, 1001));
  video::video_reader reader(dir.file("a.mp4"));
  CHECK(reader.about().rate_num == 30000);
  CHECK(reader.about().rate_den == 1001);
}

TEST_CASE("a file that cannot be opened as a video is reported with the reason", "[video]") {
  folder const dir;
  auto const open = [](std::string const& path) { video::video_reader const r(path); };
  CHECK_THROWS_WITH(open(dir.file("none.avi")), Contains("none.avi") && Contains("no such file"));
  CHECK_THROWS_WITH(open(dir.path.string()), Contains("directory"));

  std::ofstream(dir.file("empty.mp4")).close();
  CHECK_THROWS_WITH(open(dir.file("empty.mp4")), Contains("empty.mp4") && Contains("0 bytes"));

  {
    std::ofstream text(dir.file("text.avi"));
    for (int i = 0; i < 2000; ++i) text << "This is a letter, not a video; line " << i << ".\n";
  }
  CHECK_THROWS_WITH(open(dir.file("text.avi")), Contains("text.avi") && Contains("not a video"));
}

TEST_CASE("a video that breaks off yields its frames and then an error", "[video]") {
  folder const dir;
  std::string const path = dir.file("cut.mp4");
  write_clip(path, 200);
  fs::resize_file(path, fs::file_size(path) * 6 / 10);
  video::video_reader reader(path);
  picture p(128, 96);
  int frames = 0;
  while (read(reader, p)) ++frames;
  CHECK(frames >= 50);
  CHECK(frames < 200);
  CHECK_THAT(reader.error(), Contains("cut.mp4") && Contains(std::to_string(frames)));
}

TEST_CASE("a writer that is never closed leaves a video that plays", "[video]") {
  folder const dir;
  std::string const path = dir.file("killed.mp4");
  auto const format = shape(128, 96, 10);
  video::video_writer writer(path, video::writing{});
  writer.begin(format);
  picture p(128, 96);
  for (int n = 0; n < 120; ++n) {
    p.paint(n % 60);
    writer.write(p.memory.data(), at(format, n));
  }
  fs::copy_file(path + ".part", dir.file("copy.mp4"));  // the file that a killed process would have left
  video::video_reader reader(dir.file("copy.mp4"));
  int frames = 0;
  while (read(reader, p)) ++frames;
  CHECK(frames >= 20);
}

TEST_CASE("a full disk is reported as such by the video and the picture writer", "[video]") {
  if (!fs::exists("/dev/full")) {
    WARN("skipped: this system has no /dev/full");
    return;
  }
  picture p(320, 240);
  std::string what;
  try {
    auto const format = shape(320, 240);
    video::video_writer writer("/dev/full", video::writing{});
    writer.begin(format);
    for (int n = 0; n < 300; ++n) {
      p.paint(n % 60);
      writer.write(p.memory.data(), at(format, n));
    }
    writer.close();
  } catch (video::video_error const& e) {
    what = e.what();
  }
  CHECK_THAT(what, Contains("disk is full") && Contains("/dev/full"));
  CHECK_THROWS_WITH(video::write_still("/dev/full", shape(320, 240), p.memory.data()),
                    Contains("/dev/full") && Contains("No space"));
}

TEST_CASE("files that cannot be created are named", "[video]") {
  picture p(64, 48);
  CHECK_THROWS_WITH(video::video_writer("/nowhere/at/all.mp4", video::writing{}),
                    Contains("/nowhere/at/all.mp4"));
  CHECK_THROWS_WITH(video::write_still("/nowhere/at/all.png", shape(64, 48), p.memory.data()),
                    Contains("/nowhere/at/all.png"));
  folder const dir;
  video::video_writer writer(dir.file("x.mp4"), video::writing{});
  CHECK_THROWS_AS(writer.begin(shape(0, 48)), video::video_error);
}

TEST_CASE("a still holds the frame's colours", "[video]") {
  folder const dir;
  picture p(64, 48);
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x) p.view.y.at(x, y) = static_cast<std::uint8_t>(x < 32 ? 16 : 235);
  for (auto const& plane : {p.view.u, p.view.v})
    for (int y = 0; y < 24; ++y)
      for (int x = 0; x < 32; ++x) plane.at(x, y) = 128;
  video::write_still(dir.file("a.png"), shape(64, 48), p.memory.data());
  video::video_reader reader(dir.file("a.png"));  // FFmpeg reads a picture as a video of one frame
  picture got(64, 48);
  REQUIRE(read(reader, got));
  CHECK(mean_difference(got.view, p.view) < 1.5);
}
