// The command `rondo stream` as people use it: what it prints, and how it ends.
#include "tests/actors/command_fixture.hpp"
#include "tests/eventually.hpp"
#include "tests/limit_files.hpp"
#include "tests/streams/endless_graph.hpp"

using namespace command_test;
using rondo_test::eventually;

namespace {

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

/// While it lives, this process and those that it starts write files of at most so many bytes.
struct small_files {
  explicit small_files(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before);
    rondo_test::limit_files(::getpid(), bytes);
  }
  ~small_files() { ::setrlimit(RLIMIT_FSIZE, &before); }
  rlimit before{};
};

}  // namespace

TEST_CASE("rondo stream runs a file's graph, and prints what each stage has done", "[stream]") {
  folder const dir;
  auto const r = run(dir, {graph_file(dir), "--ticks", "50", "--rate", "0", "--set", "pattern.width=128"});
  REQUIRE(r.err == "");
  REQUIRE(r.status == 0);
  REQUIRE_THAT(r.out, Contains("stage    place     ticks    per s"));
  CHECK(std::regex_search(r.out, std::regex("pattern +cpu +50 ")));
  CHECK(std::regex_search(r.out, std::regex("soft +cpu +50 ")));
  CHECK(run(dir, {graph_file(dir), "--ticks", "50", "--quiet"}).out == "");
}

TEST_CASE("rondo stream explains and draws a graph without running it", "[stream]") {
  folder const dir;
  auto const explained = run(dir, {graph_file(dir), "--explain"});
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
  auto text = endless_graph();
  auto const wrong = run(dir, {graph_file(dir, text.replace(text.find("blur"), 4, "blurr"))});
  CHECK(wrong.status == 78);
  CHECK_THAT(wrong.err, Contains("stages[1].stage: there are no stages of the type 'blurr'"));
  auto const unset = run(dir, {graph_file(dir), "--set", "soft.sigma=99"});
  CHECK(unset.status == 78);
  CHECK_THAT(unset.err, Contains("--set: soft: sigma: is 99; it must be a number from 0.1 to 4"));
  text = endless_graph();
  auto const odd = run(dir, {graph_file(dir, text.replace(text.find("\"width\": 64"), 11, "\"width\": 63"))});
  CHECK(odd.status == 78);
  CHECK_THAT(odd.err, Contains("'pattern'"));
  CHECK_THAT(odd.err, Contains("the width and the height of a picture are even"));
  std::ofstream(dir / "dot.y4m") << "YUV4MPEG2 W1 H1 F25:1 C420jpeg\nFRAME\n\x10\x80\x80";
  auto const dot = run(dir, {graph_file(dir, R"({"stages": [{"name": "in", "stage": "file_source"},
    {"name": "out", "stage": "null_sink"}], "connections": [{"from": "in", "to": "out"}]})"),
                             "--set", "in.file=" + (dir / "dot.y4m")});
  CHECK(dot.status == 78);
  CHECK_THAT(dot.err, Contains("the video has 1x1 pixels: a picture has at least 16 pixels"));
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

TEST_CASE("a graph that fails while it runs ends with the status of what has failed, as rondo overlay does",
          "[stream]") {
  folder const dir;
  make_clip(dir, "clip.mp4", 120);
  fs::copy_file(dir / "clip.mp4", dir / "cut.mp4");
  fs::resize_file(dir / "cut.mp4", fs::file_size(dir / "cut.mp4") / 2);
  auto const copies = graph_file(dir, R"({"stages": [
    {"name": "in", "stage": "file_source"}, {"name": "out", "stage": "file_sink"}],
    "connections": [{"from": "in", "to": "out"}]})");
  auto const both_end_with = [&](int status, std::string const& input, std::string const& says) {
    INFO(input);
    auto const streamed =
        run(dir, {copies, "--set", "in.file=" + (dir / input), "--set", "out.file=" + (dir / "out.mp4")});
    CHECK(streamed.status == status);
    CHECK_THAT(streamed.err, Contains("cannot go on") && Contains(says));
    command overlay(dir, {"overlay", "--input", dir / input, "--output", dir / "out.mp4"});
    CHECK(overlay.wait() == status);
    CHECK_THAT(overlay.err(), Contains(says));
  };
  both_end_with(65, "cut.mp4", "ended early");
  {
    small_files const limit(6000);
    both_end_with(73, "clip.mp4", "File too large");
  }

  auto const stills = run(dir, {graph_file(dir, endless_graph("still_sink")), "--set",
                                "screen.file=" + (dir / "none/{tick}.png")});
  CHECK(stills.status == 73);
  CHECK_THAT(stills.err, Contains("none/0000") && Contains("cannot be written"));

  command loops(dir, {"stream", graph_file(dir, R"({"rate": 1000, "stages": [
    {"name": "in", "stage": "file_source", "options": {"loop": true}}, {"name": "out", "stage": "null_sink"}],
    "connections": [{"from": "in", "to": "out"}]})"),
                      "--set", "in.file=" + (dir / "clip.mp4"), "--checkpoint", dir / "state",
                      "--checkpoint-every", "0.01"});
  REQUIRE(eventually([&] { return fs::exists(dir / "state"); }));  // it has begun
  fs::remove(dir / "clip.mp4");
  CHECK(end_of(loops) == 66);
  CHECK_THAT(loops.err(), Contains("cannot go on") && Contains("there is no such file"));
}

TEST_CASE("a camera that is not there ends rondo stream as unavailable", "[stream]") {
  folder const dir;
  auto const from = [&](std::string const& stage, std::string const& option, std::string const& says) {
    auto const r = run(dir, {graph_file(dir, R"({"stages": [{"name": "in", "stage": ")" + stage + R"("},
    {"name": "out", "stage": "null_sink"}], "connections": [{"from": "in", "to": "out"}]})"),
                             "--set", option});
    INFO(r.err);
    CHECK(r.status == 69);
    CHECK_THAT(r.err, Contains(says) && !Contains("SECRET"));
  };
  from("camera", "in.device=/dev/video-none", "there is no such device");
  from("camera", "in.device=/dev/null", "the device is no camera");
  from("camera", "in.device=rtsp://u:SECRET@h", "'rtsp://***@h'");
}

TEST_CASE("rondo stream lists which codecs of hardware work here, and ends as unavailable without one",
          "[stream]") {
  folder const dir;
  auto const encoders = run(dir, {"--list", "file_sink"}), decoders = run(dir, {"--list", "file_source"});
  CHECK(encoders.status == 0);
  CHECK(encoders.err == "");
  CHECK(std::regex_search(encoders.out, std::regex("\n  h264_vaapi +(works here|not here: [^\n]{5,})\n")));
  CHECK(decoders.status == 0);
  CHECK(decoders.err == "");
  CHECK(std::regex_search(decoders.out,
                          std::regex("\n  vaapi +(a device is here; .* h264 |not here: [^\n]{5,}\n)")));
  if (encoders.out.find("works here") != std::string::npos) return;
  auto const r = run(dir, {graph_file(dir, R"({"stages": [{"name": "in", "stage": "test_pattern"},
    {"name": "out", "stage": "file_sink", "options": {"codec": "h264_hardware"}}],
    "connections": [{"from": "in", "to": "out"}]})"),
                           "--set", "out.file=" + (dir / "clip.mp4")});
  INFO(r.err);
  CHECK(r.status == 69);
  CHECK_THAT(r.err, Contains("the stage 'out'") && Contains("clip.mp4") && Contains("h264_vaapi: "));
}

TEST_CASE("numbers that rondo stream cannot take are refused with what it takes, from wherever they come",
          "[stream]") {
  folder const dir;
  auto const file = graph_file(dir);
  auto const digits = std::string(309, '9');
  for (auto const& [option, value, takes] : {
           std::tuple{"--ticks", std::string("99999999999999999999"),
                      "a whole number from 1 to 1000000000000000"},
           {"--ticks", "0", "a whole number from 1 to"},
           {"--ticks", "-1", "a whole number from 1 to"},
           {"--ticks", "1e3", "a whole number from 1 to"},
           {"--ticks", digits, "a whole number from 1 to"},
           {"--rate", "nan", "a number from 0 to 1000000"},
           {"--rate", "inf", "a number from 0 to 1000000"},
           {"--rate", "-1", "a number from 0 to 1000000"},
           {"--rate", digits, "a number from 0 to 1000000"},
           {"--checkpoint-every", "0", "a number from 0.001 to"},
           {"--checkpoint-every", "nan", "a number from 0.001 to"},
       }) {
    auto const r = run(dir, {file, std::string(option) + "=" + value, "--checkpoint", dir / "state"});
    INFO(option << " " << value << ": " << r.err);
    CHECK(r.status == 64);
    CHECK_THAT(r.err, Contains(option) && Contains("is '" + value + "'; it must be " + takes));
  }
  for (auto const& [field, value, takes] : {
           std::tuple{"rate", "1e309", "a number from 0 to 1000000"},
           {"rate", "-1", "a number from 0 to 1000000"},
           {"ticks", "99999999999999999999", "a whole number from 0 to 9007199254740992"},
           {"ticks", "1.5", "a whole number from 0 to 9007199254740992"},
           {"window", "0", "a whole number from 1 to 1024"},
           {"repeat", "1025", "a whole number from 1 to 1024"},
           {"slow_ms", "1e7", "a number from 0 to 1000000"},
       }) {
    auto text = endless_graph();
    if (auto const rate = std::string("\"rate\": 200"); std::string(field) == "rate")
      text.replace(text.find(rate), rate.size(), "\"rate\": " + std::string(value));
    else
      text.insert(1, "\"" + std::string(field) + "\": " + value + ",");
    auto const r = run(dir, {graph_file(dir, text), "--explain"});
    INFO(field << " " << value << ": " << r.err);
    CHECK(r.status == 78);
    CHECK_THAT(r.err, Contains(std::string(field) + ": is ") && Contains(std::string("it must be ") + takes));
  }
  for (auto const* const assignment :
       {"soft.sigma=nan", "soft.sigma=1e400", "pattern.width=99999999999999999999"}) {
    auto const r = run(dir, {graph_file(dir), "--set", assignment});
    INFO(assignment << ": " << r.err);
    CHECK(r.status == 78);
    CHECK_THAT(r.err, Contains("it must be a"));
  }
}

TEST_CASE("a name that a picture, JSON or a terminal cannot show is refused already by --explain",
          "[stream]") {
  folder const dir;
  for (auto const& [before, after, says] :
       {std::tuple{"\"soft\", ", R"("s\u001b[2Jt", )", "stages[1].name: 's?[2Jt' has the character U+001B"},
        {"\"soft\", ", R"("s\nt", )", "stages[1].name: 's?t' has the character U+000A"},
        {"\"rate\"", R"("name": "\u0000", "rate")", "name: '?' has the character U+0000"}}) {
    auto text = endless_graph();
    text.replace(text.find(before), std::string(before).size(), after);
    for (auto const& how : {std::vector<std::string>{"--explain"}, {"--svg", dir / "graph.svg"}}) {
      auto words = how;
      words.insert(words.begin(), graph_file(dir, text));
      auto const r = run(dir, words);
      CHECK(r.status == 78);
      CHECK_THAT(r.err, Contains(says) && !Contains("\x1b"));
      CHECK_FALSE(fs::exists(dir / "graph.svg"));
    }
  }
}

TEST_CASE("Ctrl-C ends rondo stream in order, with its table", "[stream]") {
  folder const dir;
  command c(dir, {"stream", graph_file(dir), "--metrics", "127.0.0.1:0"});
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
  auto const file = graph_file(dir);
  for (auto const* const assignment : {"cam=rtsp://u:SECRET@h", "pattern.width=rtsp://u:SECRET@h"})
    CHECK_THAT(run(dir, {file, "--set", assignment}).err, Contains("***@h") && !Contains("SECRET"));
  CHECK_THAT(run(dir, {file, "--source", "rtsp://u:SECRET@h"}).err, Contains("***@h") && !Contains("SECRET"));
  CHECK_THAT(run(dir, {file, "--listen", "tcp://u:SECRET@h:1"}).err,
             Contains("***@h") && !Contains("SECRET"));
  auto const server = std::string("http://u:SECRET@127.0.0.1:1/");  // nobody listens there
  auto const url = server + "{tick}.mp4";
  for (auto const& [sink, assignment] : {std::pair{"file_sink", "screen.file=" + url},
                                         {"file_sink", "screen.url=" + url},
                                         {"still_sink", "screen.file=" + server + "{tick}.png"}}) {
    auto const r = run(dir, {graph_file(dir, endless_graph(sink)), "--set", assignment});
    INFO(assignment);
    CHECK(r.status == 73);
    CHECK_THAT(r.err, Contains("http://***@127.0.0.1:1/") && !Contains("SECRET"));
    CHECK((r.err.find("is to be given as `url`") != std::string::npos) ==
          (assignment == "screen.file=" + url));
  }
  make_clip(dir, "clip.mp4", 4);
  command overlay(dir, {"overlay", "--input", dir / "clip.mp4", "--output", url});
  CHECK(overlay.wait() == 73);
  CHECK_THAT(overlay.out() + overlay.err(), Contains("***@127.0.0.1") && !Contains("SECRET"));
}
