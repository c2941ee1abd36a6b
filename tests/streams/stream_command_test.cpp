// The command `rondo stream` as people use it: what it prints, and how it ends.
#include "tests/actors/command_fixture.hpp"
#include "tests/eventually.hpp"

using namespace command_test;
using rondo_test::eventually;

namespace {

std::string const endless = R"({
  "rate": 200,
  "stages": [
    {"name": "pattern", "stage": "test_pattern", "options": {"width": 64, "height": 48}},
    {"name": "soft", "stage": "blur"},
    {"name": "screen", "stage": "null_sink"}
  ],
  "connections": [{"from": "pattern", "to": "soft"}, {"from": "soft", "to": "screen", "delivery": "latest"}]
})";

std::string file_with(folder const& dir, std::string const& text) {
  std::ofstream(dir / "graph.json") << text;
  return dir / "graph.json";
}

struct outcome {
  int status;
  std::string out, err;
};
outcome run(folder const& dir, std::vector<std::string> words) {
  words.insert(words.begin(), "stream");
  command c(dir, std::move(words));
  int const status = c.wait();
  return {status, c.out(), c.err()};
}

}  // namespace

TEST_CASE("rondo stream runs a file's graph, and prints what each stage has done", "[stream]") {
  folder const dir;
  auto const r =
      run(dir, {file_with(dir, endless), "--ticks", "50", "--rate", "0", "--set", "pattern.width=128"});
  REQUIRE(r.err == "");
  REQUIRE(r.status == 0);
  REQUIRE_THAT(r.out, Contains("stage    place     ticks    per s"));
  CHECK(std::regex_search(r.out, std::regex("pattern +cpu +50 ")));
  CHECK(std::regex_search(r.out, std::regex("soft +cpu +50 ")));
  CHECK(run(dir, {file_with(dir, endless), "--ticks", "50", "--quiet"}).out == "");
}

TEST_CASE("rondo stream explains and draws a graph without running it", "[stream]") {
  folder const dir;
  auto const explained = run(dir, {file_with(dir, endless), "--explain"});
  REQUIRE(explained.status == 0);
  CHECK_THAT(explained.out, Contains("soft (rondo::video::blur): cpu, the only device"));
  CHECK_THAT(explained.out, Contains("soft.video -> screen.video: latest, 6144 bytes a frame"));
  REQUIRE(run(dir, {dir / "graph.json", "--svg", dir / "graph.svg"}).status == 0);
  CHECK_THAT(text_of(dir / "graph.svg"), Contains(">soft</text>"));
  auto const refused = run(dir, {dir / "graph.json", "--svg", "/nowhere/graph.svg"});
  CHECK(refused.status == 73);
  CHECK_THAT(refused.err, Contains("/nowhere/graph.svg: cannot be written: No such file"));
}

TEST_CASE("rondo stream lists the stages that it knows, and their options", "[stream]") {
  folder const dir;
  auto const all = run(dir, {"--list"});
  REQUIRE(all.status == 0);
  for (auto const* const name : {"test_pattern", "blur", "find_movement", "text", "display", "file_source",
                                 "file_sink", "camera", "network_sink", "network_source"})
    CHECK_THAT(all.out, Contains(std::string("\n") + name + " "));
  CHECK_THAT(
      run(dir, {"--list", "blur"}).out,
      Contains("option  sigma        standard deviation in pixels; a number from 0.1 to 4 (default: 2)"));
  auto const unknown = run(dir, {"--list", "blurr"});
  CHECK(unknown.status == 64);
  CHECK_THAT(unknown.err, Contains("did you mean 'blur'?"));
}

TEST_CASE("rondo stream refuses what is wrong with a clear error", "[stream]") {
  folder const dir;
  auto const r = run(dir, {dir / "missing.json"});
  CHECK(r.status == 78);
  CHECK_THAT(r.err, Contains("missing.json: cannot be read; name an existing JSON file"));
  CHECK(run(dir, {}).status == 64);
  auto text = endless;
  auto const wrong = run(dir, {file_with(dir, text.replace(text.find("blur"), 4, "blurr"))});
  CHECK(wrong.status == 78);
  CHECK_THAT(wrong.err, Contains("stages[1].stage: there are no stages of the type 'blurr'"));
  auto const unset = run(dir, {file_with(dir, endless), "--set", "soft.sigma=99"});
  CHECK(unset.status == 78);
  CHECK_THAT(unset.err, Contains("--set: soft: sigma: is 99; it must be a number from 0.1 to 4"));
  text = endless;
  auto const odd = run(dir, {file_with(dir, text.replace(text.find("\"width\": 64"), 11, "\"width\": 63"))});
  CHECK(odd.status == 78);
  CHECK_THAT(odd.err, Contains("'pattern'"));
  CHECK_THAT(odd.err, Contains("the width and the height of a picture are even"));
}

TEST_CASE("rondo stream ends with the same statuses as rondo overlay for what it cannot open", "[stream]") {
  folder const dir;
  make_clip(dir, "clip.mp4", 4);
  std::ofstream(dir / "text.avi") << "Dear diary, today I was renamed.\n";
  std::ofstream(dir / "graph.json") << R"({"stages": [
    {"name": "in", "stage": "file_source"}, {"name": "out", "stage": "file_sink"}],
    "connections": [{"from": "in", "to": "out"}]})";
  for (auto const& [input, output, status] : {std::tuple{"missing.avi", "o.mp4", 66},
                                              {"text.avi", "o.mp4", 65},
                                              {"clip.mp4", "no/such/folder/o.mp4", 73},
                                              {"clip.mp4", "o.mp4", 0}}) {
    auto const streamed = run(dir, {dir / "graph.json", "--set", "in.file=" + (dir / input), "--set",
                                    "out.file=" + (dir / output)});
    INFO(streamed.err);
    CHECK(streamed.status == status);
    CHECK(command(dir, {"overlay", "--input", dir / input, "--output", dir / output}).wait() == status);
  }
  CHECK(run(dir, {dir / "graph.json", "--set", "in.file=" + (dir / "clip.mp4")}).status ==
        78);  // no output is named
}

TEST_CASE("Ctrl-C ends rondo stream in order, with its table", "[stream]") {
  folder const dir;
  command c(dir, {"stream", file_with(dir, endless), "--metrics", "127.0.0.1:0"});
  REQUIRE(eventually([&] { return c.err().find("metrics at http://127.0.0.1:") != std::string::npos; }));
  c.signal(SIGINT);
  REQUIRE(c.wait() == 0);
  CHECK_THAT(c.err(), Contains("stopping: frames under way arrive first"));
  CHECK_THAT(c.out(), Contains("screen"));
}

TEST_CASE("the graphs that come with rondo stream are valid", "[stream]") {
  folder const dir;
  make_clip(dir, "clip.mp4", 20);
  auto const people =
      run(dir, {RONDO_GRAPHS "/people.json", "--set", "street.file=" + (dir / "clip.mp4"), "--set",
                "video.file=" + (dir / "out.mp4"), "--set", "stills.file=" + (dir / "still-{tick}.png")});
  INFO(people.err);
  REQUIRE(people.status == 0);
  CHECK(frames_in(dir / "out.mp4") == 20);
  CHECK(fs::exists(dir / "still-000000.png"));
  CHECK(run(dir, {RONDO_GRAPHS "/eight_cameras.json", "--set", "camera.file=" + (dir / "clip.mp4"), "--ticks",
                  "5"})
            .status == 0);
  CHECK_THAT(run(dir, {RONDO_GRAPHS "/five_stages.json", "--explain"}).out,
             Contains("screen (rondo::video::display)"));
}

TEST_CASE("rondo stream shows no password of a URL that it is given", "[stream]") {
  folder const dir;
  auto const file = file_with(dir, endless);
  for (auto const* const assignment : {"cam=rtsp://u:SECRET@h", "pattern.width=rtsp://u:SECRET@h"})
    CHECK_THAT(run(dir, {file, "--set", assignment}).err, Contains("***@h") && !Contains("SECRET"));
  CHECK_THAT(run(dir, {file, "--source", "rtsp://u:SECRET@h"}).err, Contains("***@h") && !Contains("SECRET"));
  CHECK_THAT(run(dir, {file, "--listen", "tcp://u:SECRET@h:1"}).err,
             Contains("***@h") && !Contains("SECRET"));
}
