// `rondo stream --checkpoint` is killed, or ended by Ctrl-C, and begun again: in the end all is as if it had run
// through.
#include <map>
#include <random>
#include <thread>

#include "tests/actors/command_fixture.hpp"
#include "tests/eventually.hpp"
#include "tests/seed.hpp"

using namespace command_test;
using namespace std::chrono_literals;

namespace {

constexpr int clip_frames = 400;

/// Finds what moves in a clip, draws it, and writes pictures and a video.
std::vector<std::string> moving(folder const& dir, std::string const& results) {
  fs::create_directory(dir / results);
  auto const to = dir / results + "/";
  std::ofstream(dir / "moving.json") << R"({
    "stages": [
      {"name": "street", "stage": "file_source"},
      {"name": "find", "stage": "find_movement"},
      {"name": "draw", "stage": "draw_movement"},
      {"name": "video", "stage": "file_sink", "options": {"rate": 25}},
      {"name": "stills", "stage": "still_sink"}
    ],
    "connections": [{"from": "street", "to": "find"},
                    {"from": "find.video", "to": "draw.video"}, {"from": "find.drawing", "to": "draw.drawing"},
                    {"from": "draw", "to": "video"}, {"from": "draw", "to": "stills"}]
  })";
  return {"stream", dir / "moving.json",
          "--set",  "street.file=" + (dir / "clip.mp4"),
          "--set",  "video.file=" + to + "out.mp4",
          "--set",  "stills.file=" + to + "{tick}.png"};
}
std::vector<std::string> with_checkpoints(std::vector<std::string> words, std::string const& file) {
  for (auto const* const word : {"--checkpoint", file.c_str(), "--checkpoint-every", "0.03"})
    words.emplace_back(word);
  return words;
}

std::string still(folder const& dir, std::string const& results, int number) {
  char name[16];
  std::snprintf(name, sizeof name, "/%06d.png", number);
  return text_of(dir / results + name);
}

}  // namespace

TEST_CASE("rondo stream is killed again and again, and goes on from its checkpoint", "[stream][G9]") {
  folder const dir;
  make_clip(dir, "clip.mp4", clip_frames);
  REQUIRE(command(dir, moving(dir, "whole")).wait() == 0);
  std::mt19937_64 random(rondo_test::seed_of("stream_checkpoint"));
  auto const state = dir / "state.rondo";
  auto const words = with_checkpoints(moving(dir, "parts"), state);
  int went_on = 0, kills = 0;
  for (bool ended = false; !ended; ++kills) {
    bool const had_one = fs::exists(state);
    auto const written = [&] {
      std::error_code none;  // it is removed at the graph's end
      return fs::last_write_time(state, none);
    };
    auto const before = written();
    command c(dir, words);
    if (kills < 15) {  // each run saves something, so there is progress
      REQUIRE(rondo_test::eventually([&] { return written() != before || c.ended(); }));
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 50'000));
      if (!c.ended()) c.signal(SIGKILL);
    }
    int const status = c.wait();
    INFO(c.err());
    REQUIRE((status == 0 || status == 128 + SIGKILL));
    if (had_one && status == 0) CHECK_THAT(c.err(), Contains("goes on with tick "));
    went_on += had_one;
    ended = status == 0;
  }
  CHECK(went_on > 0);
  CHECK_FALSE(fs::exists(state));  // it came to its end
  for (int n = 0; n < clip_frames; ++n) {
    CAPTURE(n);
    auto const picture = still(dir, "whole", n);
    REQUIRE_FALSE(picture.empty());
    REQUIRE((still(dir, "parts", n) == picture));  // the background and the tracks were not lost
  }
  // Each picture is in a video: a part reaches to where the next one begins.
  std::map<int, std::string> parts;
  for (auto const& e : fs::directory_iterator(dir / "parts")) {
    auto const name = e.path().filename().string();
    if (name.ends_with(".mp4"))
      parts[name == "out.mp4" ? 0 : std::stoi(name.substr(name.rfind('-') + 1))] = e.path().string();
  }
  int reached = 0;
  for (auto const& [from, file] : parts) {
    INFO(file << " begins with picture " << from << ", and the videos before it end with " << reached - 1);
    REQUIRE(from <= reached);
    int pictures = 0;
    try {
      pictures = static_cast<int>(frames_in(file, true));
    } catch (video::video_error const&) {  // it was killed before its first picture
    }
    reached = std::max(reached, from + pictures);
  }
  CHECK(reached == clip_frames);
}

TEST_CASE("Ctrl-C saves a checkpoint after the last frame, and the next run goes on with the next one",
          "[stream][G9]") {
  folder const dir;
  make_clip(dir, "clip.mp4", clip_frames);
  auto const state = dir / "state.rondo";
  auto words = with_checkpoints(moving(dir, "parts"), state);
  words.back() = "1000";
  int next = 0;
  {
    command c(dir, words);
    REQUIRE(rondo_test::eventually([&] { return fs::exists(dir / "parts/000010.png"); }));
    c.signal(SIGINT);
    REQUIRE(c.wait() == 0);
    INFO(c.err());
    REQUIRE(fs::exists(state));
    next = static_cast<int>(frames_in(dir / "parts/out.mp4"));
    REQUIRE(next > 10);
    REQUIRE(next < clip_frames);
  }
  command c(dir, words);
  REQUIRE(c.wait() == 0);
  CHECK_THAT(c.err(), Contains("goes on with tick " + std::to_string(next) + ", from " + state));
  auto const rest = dir / ("parts/out-from-" + std::to_string(next) + ".mp4");
  CHECK(frames_in(rest) == clip_frames - next);
  CHECK(frames_in(dir / "parts/out.mp4") == next);
  CHECK_FALSE(fs::exists(state));
  CHECK_FALSE(fs::exists(state + ".lock"));
}

TEST_CASE("a checkpoint that cannot be used or written is named", "[stream]") {
  folder const dir;
  make_clip(dir, "clip.mp4", clip_frames);
  auto const state = dir / "state.rondo";
  std::ofstream(state) << "nonsense";
  {
    command c(dir, with_checkpoints(moving(dir, "parts"), state));
    CHECK(c.wait() == 78);
    CHECK_THAT(c.err(), Contains(state + ": is not a checkpoint of a graph"));
  }
  {
    command c(dir, with_checkpoints(moving(dir, "parts"), "/nowhere/state.rondo"));
    CHECK(c.wait() == 73);
    CHECK_THAT(c.err(), Contains("/nowhere/state.rondo"));
  }
  fs::remove(state);
  auto words = with_checkpoints(moving(dir, "parts"), state);
  words.insert(words.end(), {"--set", "street.loop=true"});
  command first(dir, words);
  REQUIRE(rondo_test::eventually([&] { return fs::exists(state); }));
  folder const other;
  command second(other, words);
  CHECK(second.wait() == 78);
  CHECK_THAT(second.err(), Contains(state));
  first.signal(SIGINT);
  CHECK(first.wait() == 0);
}
