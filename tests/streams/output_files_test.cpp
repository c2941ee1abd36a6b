// What commands do to files: an output never destroys an input or another output, and has its name when it is whole.
#include <sys/stat.h>

#include <map>

#include "runtime/files/file_uses.hpp"
#include "tests/actors/command_fixture.hpp"
#include "tests/eventually.hpp"

using namespace command_test;
using rondo_test::eventually;

namespace {

/// A video through a graph: `extra` are more stages, and connections from `street`.
std::string graph_with(folder const& dir, std::string const& extra = {},
                       std::string const& connections = {}) {
  std::ofstream(dir / "graph.json") << R"({"stages": [
      {"name": "street", "stage": "file_source", "options": {"file": ")"
                                    << (dir / "clip.mp4") << R"("}},
      {"name": "video", "stage": "file_sink", "options": {"file": ")"
                                    << (dir / "out.mp4") << R"(", "rate": 25}})" << extra << R"(],
      "connections": [{"from": "street", "to": "video"})"
                                    << connections << "]}";
  return dir / "graph.json";
}

}  // namespace

TEST_CASE("one file with two names is found, whatever the names are", "[command]") {
  folder const dir;
  auto const clip = dir / "clip.mp4";
  std::ofstream(clip) << "a video";
  fs::create_symlink(clip, dir / "symlink.mp4");
  fs::create_hard_link(clip, dir / "hard.mp4");
  fs::create_symlink("new.mp4", dir / "dangling.mp4");
  fs::create_directory(dir / "folder");
  fs::create_symlink(dir.path, dir / "folder/back");
  fs::create_hard_link(clip, dir / "still-000007.png");
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  auto const conflict = [](std::string const& read, std::string const& written, bool from_any_tick = false) {
    rondo::file_uses uses;
    uses.reads("a", read);
    from_any_tick ? uses.writes_from_any_tick("b", written) : uses.writes("b", written);
    return uses.conflict();
  };
  auto const url_conflict = [](std::string const& url, std::string const& name) {
    rondo::file_uses read, written;
    read.reads_url("a", url);
    read.writes("b", name);
    written.reads("a", name);
    written.writes_url("b", url);
    return (read.conflict() == "") == (written.conflict() == "") ? read.conflict() : "they differ";
  };
  for (auto const& other : {clip, dir / "symlink.mp4", dir / "hard.mp4", dir / "folder/../clip.mp4",
                            dir / "./clip.mp4", dir / "folder/back/clip.mp4", fs::relative(clip).string(),
                            dir / "still-{tick}.png", dir / "still-%06d.png"}) {
    INFO(other);
    CHECK_THAT(conflict(clip, other), Contains("name another file"));
    CHECK_THAT(conflict(other, clip), Contains("name another file"));
  }
  CHECK_THAT(conflict(clip, dir / "hard.mp4"),
             Contains("b would write '" + (dir / "hard.mp4") + "', which a reads as '" + clip + "'"));
  for (auto const& url : {"concat:" + (dir / "other.mp4") + "|" + clip, "subfile,,start,0,end,9,,:" + clip,
                          "async:" + clip, "file:" + clip, "file://" + clip})
    CHECK(url_conflict(url, clip) != "");
  CHECK(conflict("file:" + clip, clip) == "");  // a name is a name
  CHECK(conflict(dir / "clip.mp4.part", clip) != "");
  CHECK(conflict(dir / "clip-from-250.mp4", clip) == "");
  CHECK(conflict(dir / "clip-from-250.mp4", clip, true) != "");
  CHECK(conflict(dir / "clip-from-250.mp4.part", clip, true) != "");
  CHECK(conflict(dir / "still-000012.png", dir / "still-{tick}.png") != "");
  for (auto const& other : {dir / "clip.mp4.mp4", dir / "still-x.png", dir / "pipe", std::string("/dev/null"),
                            std::string("-"), std::string()})
    CHECK(conflict(other, clip) == "");
  CHECK(url_conflict("rtsp://camera/clip.mp4", clip) == "");
  auto const twice = [](std::string const& one, std::string const& other) {
    rondo::file_uses uses;
    uses.writes("a", one);
    uses.writes("b", other);
    return uses.conflict();
  };
  CHECK_THAT(twice(dir / "new.mp4", dir / "dangling.mp4"), Contains("writes, too"));
  CHECK(twice("-", "-") != "");
  CHECK(twice(dir / "a-{tick}.png", dir / "a-{tick}.png") != "");
  CHECK(twice(dir / "a-{tick}.png", dir / "b-{tick}.png") == "");
  CHECK(twice("/dev/null", "/dev/null") == "");
}

TEST_CASE("no command writes a file that it reads, or one that it writes already", "[command]") {
  folder const dir;
  auto const clip = make_clip(dir, "clip.mp4", 20);
  auto const graph = graph_with(dir);
  std::ofstream(dir / "token") << "a-token-of-sixteen-characters\n";
  fs::permissions(dir / "token", fs::perms::owner_read | fs::perms::owner_write);
  std::ofstream(dir / "run.rec") << "a recording";
  std::vector<std::vector<std::string>> const refused{
      {"stream", graph, "--set", "video.file=" + clip},
      {"stream", graph, "--explain", "--set", "video.file=" + clip},
      {"stream", graph, "--svg", graph},
      {"stream", graph, "--checkpoint", dir / "out.mp4"},
      {"overlay", "--input", clip, "--output", clip},
      {"overlay", "--input", clip, "--no-output", "--checkpoint", clip},
      {"replay", dir / "run.rec", "--checkpoint", dir / "run.rec"},
      {"serve", "--listen", "unix:" + (dir / "s"), "--recording", dir / "x", "--checkpoint", dir / "x"},
      {"trace", "--at", "unix:" + (dir / "s"), "--token-file", dir / "token", "--out", dir / "token"},
      {"ask", "a", "get", "--at", "unix:" + (dir / "s"), "--token-file", dir / "token", "--trace",
       dir / "token"},
  };
  auto const contents = [&] {
    std::map<std::string, std::string> all;
    for (auto const& entry : fs::directory_iterator(dir.path))
      if (auto const name = entry.path().filename();
          fs::is_regular_file(entry) && name != "stderr" && name != "stdout")
        all[name.string()] = text_of(entry.path().string());
    return all;
  };
  auto const before = contents();
  for (auto const& words : refused) {
    std::string line;
    for (auto const& w : words) line += w + ' ';
    INFO(line);
    command c(dir, words);
    CHECK(end_of(c) == 64);
    CHECK_THAT(c.err(), Contains("name another file"));
    CHECK((contents() == before));
  }
}

TEST_CASE(
    "an output has its name when it is whole; what a killed process leaves plays, and its checkpoint finds "
    "it",
    "[command][stream]") {
  folder const dir;
  make_clip(dir, "clip.mp4", 30);
  auto const graph = graph_with(dir);
  auto const out = dir / "out.mp4", part = out + ".part";
  std::ofstream(out) << "of an earlier run";
  std::vector<std::string> const words{"stream",
                                       graph,
                                       "--quiet",
                                       "--rate",
                                       "400",
                                       "--set",
                                       "street.loop=true",
                                       "--checkpoint",
                                       dir / "state",
                                       "--checkpoint-every",
                                       "0.05"};
  {
    command c(dir, words);
    // Parts of two seconds each, so that some are whole.
    REQUIRE(eventually([&] {
      return c.ended() || (fs::exists(part) && fs::file_size(part) > 100'000 && fs::exists(dir / "state"));
    }));
    CHECK(text_of(out) == "of an earlier run");
    c.signal(SIGKILL);
    REQUIRE(c.wait() == 128 + SIGKILL);
  }
  CHECK(text_of(out) == "of an earlier run");
  auto const left = frames_in(part, true);
  CHECK(left >= 50);
  {
    command c(dir, words);
    REQUIRE(eventually([&] { return c.ended() || fs::exists(out); }));
    REQUIRE(
        eventually([&] { return c.ended() || (!fs::exists(part) && text_of(out) != "of an earlier run"); }));
    REQUIRE(eventually([&] {
      return c.ended() || std::ranges::any_of(fs::directory_iterator(dir.path), [](auto const& e) {
               return e.path().filename().string().starts_with("out-from-");
             });
    }));
    c.signal(SIGINT);
    INFO(c.err());
    REQUIRE(end_of(c) == 0);
  }
  CHECK(frames_in(out, true) == left);
  CHECK(std::ranges::none_of(fs::directory_iterator(dir.path),
                             [](auto const& e) { return e.path().extension() == ".part"; }));
}

TEST_CASE("a failed command gives its output its name, and keeps an older one if it has nothing to show",
          "[command]") {
  folder const dir;
  auto const clip = make_clip(dir, "whole.mp4", 100);
  fs::copy_file(clip, dir / "clip.mp4");
  fs::resize_file(dir / "clip.mp4", fs::file_size(clip) / 2);
  auto const out = dir / "out.mp4";
  command c(dir, {"stream", graph_with(dir), "--quiet"});
  CHECK(end_of(c) == 65);
  auto const frames = frames_in(out);
  CHECK(frames > 0);
  CHECK_FALSE(fs::exists(out + ".part"));
  auto const before = text_of(out);
  fs::create_directory(out + ".part");  // in the way
  command refused(dir, {"stream", graph_with(dir), "--quiet"});
  CHECK(end_of(refused) != 0);
  CHECK_THAT(refused.err(), Contains(out));
  CHECK((text_of(out) == before));
}

TEST_CASE("FIFOs, devices and standard output are written directly", "[command]") {
  folder const dir;
  make_clip(dir, "clip.mp4", 20);
  auto const graph = graph_with(dir);
  auto const pipe = dir / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  {
    command c(dir, {"stream", graph, "--quiet", "--set", "video.file=" + pipe});
    std::ifstream in(pipe, std::ios::binary);
    std::ofstream(dir / "copy.mp4", std::ios::binary) << in.rdbuf();
    CHECK(end_of(c) == 0);
    INFO(c.err());
    CHECK(frames_in(dir / "copy.mp4") == 20);
    CHECK(fs::is_fifo(pipe));
  }
  {
    command c(dir, {"stream", graph, "--set", "video.file=-"}, dir / "printed.mp4");
    CHECK(end_of(c) == 0);
    CHECK(frames_in(dir / "printed.mp4") == 20);
    CHECK_THAT(c.err(), Contains("street"));  // the table, which would be in the video
  }
  for (auto const* const name : {"-", "/dev/stdout"}) {
    command c(dir, {"stream", graph, "--svg", name});
    CHECK(end_of(c) == 0);
    CHECK_THAT(c.out(), Contains("</svg>"));
  }
  command c(dir, {"stream", graph, "--quiet", "--set", "video.file=/dev/null"});
  CHECK(end_of(c) == 0);
  CHECK_FALSE(fs::exists("/dev/null.part"));
}
