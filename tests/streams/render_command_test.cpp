// The command `rondo render` as people use it: a scene becomes a picture, some, or a video.
#include <fmt/format.h>

#include "tests/actors/command_fixture.hpp"

using namespace command_test;

namespace render_command_test {

namespace {

struct outcome {
  int status;
  std::string out, err;
};
outcome run(folder const& dir, std::vector<std::string> words) {
  words.insert(words.begin(), "render");
  command c(dir, std::move(words));
  int const status = c.wait();
  return {status, c.out(), c.err()};
}

/// A pattern, points that wander over it, and lines between them; `after`: more stages and connections.
std::string scene(folder const& dir, std::string const& stages = "", std::string const& connections = "") {
  std::ofstream points(dir / "points.jsonl");
  for (int tick = 0; tick < 12; ++tick) {
    points << R"({"points": [)";
    for (int i = 0; i < 6; ++i)
      points << (i == 0 ? "" : ", ") << R"({"id": )" << i << R"(, "x": )" << 20 + 20 * i + tick
             << R"(, "y": )" << (i % 2 == 0 ? 20 : 70) << "}";
    points << "]}\n";
  }
  std::ofstream(dir / "scene.json") << R"({
  "rate": 30,
  "stages": [
    {"name": "pattern", "stage": "test_pattern", "options": {"width": 160, "height": 96}},
    {"name": "points", "stage": "points_source", "options": {"file": ")" +
                                           (dir / "points.jsonl") + R"("}},
    {"name": "links", "stage": "knn_graph", "options": {"k": 2}},
    {"name": "lines", "stage": "draw_lines", "options": {"width_px": 3, "colour": "#ffffff"}})" +
                                           stages + R"(
  ],
  "connections": [
    {"from": "points.points", "to": "links"},
    {"from": "pattern", "to": "lines.video"},
    {"from": "links", "to": "lines.edges"})" +
                                           connections + R"(
  ]
})";
  return dir / "scene.json";
}

}  // namespace

TEST_CASE("rondo render draws a scene into a picture, named as the scene unless it is told", "[render]") {
  folder const dir;
  auto const r = run(dir, {scene(dir), dir / "one.png", "--quiet"});
  CHECK(r.err == "");
  REQUIRE(r.status == 0);
  video::video_reader picture(dir / "one.png");
  CHECK(picture.about().width == 160);
  CHECK(picture.about().height == 96);
  CHECK(run(dir, {dir / "scene.json", dir / "one.jpeg", "--quiet"}).status == 0);
  CHECK(run(dir, {dir / "scene.json", dir / "at-{tick}.png", "--quiet"}).status == 0);
  for (int tick = 0; tick < 12; ++tick) CHECK(fs::exists(dir / fmt::format("at-{:06}.png", tick)));
  CHECK_FALSE(fs::exists(dir / "at-000012.png"));
}

TEST_CASE("rondo render draws the edges that a file of points lists", "[render]") {
  folder const dir;
  // From left to right, in a row that only the line reaches; and the same points without it.
  std::string const points = R"({"points": [{"id": 1, "x": 10, "y": 33}, {"id": 2, "x": 150, "y": 33}])";
  std::ofstream(dir / "linked.jsonl") << points << R"(, "edges": [[1, 2]]})";
  std::ofstream(dir / "apart.jsonl") << points << "}";
  std::ofstream(dir / "scene.json") << R"({
  "stages": [
    {"name": "pattern", "stage": "test_pattern", "options": {"width": 160, "height": 96}},
    {"name": "points", "stage": "points_source", "options": {"file": ")" +
                                           (dir / "linked.jsonl") + R"("}},
    {"name": "lines", "stage": "draw_lines", "options": {"width_px": 6, "colour": "#ffffff"}}
  ],
  "connections": [{"from": "pattern", "to": "lines.video"}, {"from": "points.edges", "to": "lines.edges"}]
})";
  auto const brightness_at = [&](std::string const& name, std::vector<std::string> more) {
    more.insert(more.begin(), {dir / "scene.json", dir / name, "--quiet"});
    auto const r = run(dir, more);
    CHECK(r.err == "");
    REQUIRE(r.status == 0);
    video::video_reader picture(dir / name);
    std::vector<std::byte> block(picture.about().bytes());
    REQUIRE(picture.next());
    picture.get(block.data());
    return static_cast<int>(video::planes_at(picture.about(), block.data()).of[0].at(80, 33));
  };
  CHECK(brightness_at("linked.png", {}) >= 234);
  CHECK(brightness_at("apart.png", {"--set", "points.file=" + (dir / "apart.jsonl")}) < 225);
}

TEST_CASE("what rondo render draws belongs together, also at inputs that otherwise have the newest frame",
          "[render]") {
  std::string const stages = R"(,
    {"name": "labels", "stage": "draw_labels", "options": {"size": 14}},
    {"name": "glow", "stage": "layer"},
    {"name": "dust", "stage": "draw_particles"},
    {"name": "all", "stage": "compositor", "options": {"mode1": "add"}})";
  auto const drawn = [&](std::string const& how) {
    folder const dir;
    auto const file = scene(dir, stages,
                            R"(,
    {"from": "lines", "to": "labels.video"},
    {"from": "points.points", "to": "labels.points")" +
                                how + R"(},
    {"from": "pattern", "to": "glow.like")" +
                                how + R"(},
    {"from": "glow", "to": "dust.video"},
    {"from": "points.points", "to": "dust.points"},
    {"from": "labels", "to": "all.video"},
    {"from": "dust", "to": "all.layer1")" +
                                how + "}");
    auto const r = run(dir, {file, dir / "at-{tick}.png", "--quiet"});
    INFO(r.err);
    REQUIRE(r.status == 0);
    std::vector<std::string> all;
    for (int tick = 0; tick < 12; ++tick) all.push_back(text_of(dir / fmt::format("at-{:06}.png", tick)));
    return all;
  };
  auto const waiting = drawn(R"(, "delivery": "lossless")");
  CHECK(waiting[3] != waiting[4]);
  CHECK((drawn("") == waiting));
}

TEST_CASE("rondo render draws a scene into a video of its rate, and says what it took", "[render]") {
  folder const dir;
  auto const r = run(dir, {scene(dir), dir / "clip.mp4", "--profile", "--budget", "100000"});
  CHECK(r.err == "");
  REQUIRE(r.status == 0);
  CHECK(std::regex_search(r.out, std::regex("lines +[0-9.]+ +[0-9.]+ +[0-9.]+\n")));
  CHECK_THAT(r.out, Contains("12 frames, "));
  CHECK_THAT(r.out, Contains("the budget of 100000.00 ms was kept"));
  CHECK_THAT(run(dir, {dir / "scene.json", dir / "again.mp4", "--profile", "--budget", "0.001"}).out,
             Contains("the budget of 0.00 ms was exceeded"));
  video::video_reader clip(dir / "clip.mp4");
  CHECK(clip.about().rate_num == 30 * clip.about().rate_den);
  CHECK(clip.frame_count_estimate() == 12);
}

TEST_CASE("rondo render refuses a file without one picture that nothing reads", "[render]") {
  folder const dir;
  auto const all_read =
      run(dir, {scene(dir, R"(, {"name": "to", "stage": "null_sink"})", R"(, {"from": "lines", "to": "to"})"),
                dir / "one.png"});
  CHECK(all_read.status == 78);
  CHECK_THAT(all_read.err, Contains("every picture of the scene is connected"));
  auto const two = run(dir, {scene(dir, R"(, {"name": "other", "stage": "test_pattern"})"), dir / "one.png"});
  CHECK(two.status == 78);
  CHECK_THAT(two.err, Contains("pictures that nothing reads are lines.video, other.video"));
  CHECK_FALSE(fs::exists(dir / "one.png"));
  auto const nowhere = run(dir, {scene(dir), "/nowhere/one.png", "--quiet"});
  CHECK(nowhere.status == 73);
  CHECK_THAT(nowhere.err, Contains("/nowhere/one.png"));
}

}  // namespace render_command_test
