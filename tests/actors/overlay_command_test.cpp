// `rondo overlay` as users see it: its output, its error messages, its exit statuses. Its graphs are those of
// `rondo stream`, whose tests are in tests/streams.
#include <thread>

#include "tests/actors/command_fixture.hpp"
#include "tests/streams/pipe_camera.hpp"

using namespace command_test;

namespace {

/// Runs it to the end and expects one sentence on standard error that contains `what`.
void refuses(folder const& dir, std::vector<std::string> const& words, int status, std::string const& what) {
  command c(dir, words);
  CHECK(c.wait() == status);
  auto const text = c.err();
  CHECK_THAT(text, Contains(what));
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK_THAT(text, !Contains("terminate called"));
}

/// The time at which each frame is shown, in seconds.
std::vector<double> times_of(std::string const& file) {
  video::video_reader reader(file);
  std::vector<double> all;
  while (reader.next()) all.push_back(static_cast<double>(reader.time_ns()) / 1e9);
  return all;
}

}  // namespace

TEST_CASE("rondo overlay writes every frame, five pictures and a table", "[command]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  folder dir;
  auto const clip = make_clip(dir, "walk.mp4", 60);
  command c(dir, {"overlay", "--input", clip, "--output", dir / "out.mp4", "--stills", dir.path.string(),
                  "--device", device});
  CHECK(c.wait() == 0);
  CHECK(c.complaints() == "");
  CHECK(frames_in(dir / "out.mp4") == 60);
  for (auto const* still : {"000006", "000018", "000030", "000042", "000054"})
    CHECK(fs::exists(dir / ("camera-1-still-" + std::string(still) + ".png")));
  CHECK(std::ranges::count_if(fs::directory_iterator(dir.path),
                              [](auto const& entry) { return entry.path().extension() == ".png"; }) == 5);
  CHECK_THAT(c.out(), Catch::Matchers::Matches("(.|\\n)*find +" + device + " +60 (.|\\n)*"));
}

TEST_CASE("each camera has its own output, and one that cannot be opened does not stop the others",
          "[command]") {
  folder dir;
  auto const clip = make_clip(dir, "a.mp4", 30);
  command c(dir, {"overlay", "--input", clip, "--input", dir / "nowhere.avi", "--input", clip, "--output",
                  dir / "out.mp4"});
  CHECK(c.wait() == 66);
  CHECK_THAT(c.err(), Contains("camera-2") && Contains("nowhere.avi") && Contains("no such file"));
  CHECK(frames_in(dir / "out.mp4") == 30);
  CHECK(frames_in(dir / "out-3.mp4") == 30);
  CHECK_FALSE(fs::exists(dir / "out-2.mp4"));
}

TEST_CASE("frames at uneven times keep their times, and none is missing", "[command]") {
  folder dir;
  auto const clip = make_clip(dir, "even.mp4", 100), uneven = dir / "uneven.avi";
  // An index of a hundred frames, sixty of which are empty: four in ten are shown, the last one for longer.
  auto const made = std::system(
      ("ffmpeg -v error -i " + clip + " -vf \"select='lt(mod(n,10),4)'\" -vsync vfr -c:v mpeg4 " + uneven)
          .c_str());
  REQUIRE(made == 0);
  command c(dir, {"overlay", "--input", uneven, "--output", dir / "out.mp4"});
  CHECK(c.wait() == 0);
  CHECK(c.complaints() == "");
  auto const seen = times_of(uneven), written = times_of(dir / "out.mp4");
  REQUIRE(seen.size() == 40);
  CHECK(seen[4] == Approx(0.4).margin(0.001));
  CHECK(seen.back() == Approx(93 / 25.0).margin(0.001));
  REQUIRE(written.size() == seen.size());
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(written[i] == Approx(seen[i]).margin(0.001));
  // If the video is cut short, this is reported as usual.
  fs::resize_file(uneven, fs::file_size(uneven) / 2);
  command half(dir, {"overlay", "--input", uneven, "--no-output"});
  CHECK(half.wait() == 65);
}

TEST_CASE("a camera that breaks off is reported by name, and its frames are kept", "[command]") {
  folder dir;
  auto const clip = make_clip(dir, "whole.mp4", 150);
  fs::copy_file(clip, dir / "broken.mp4");
  fs::resize_file(dir / "broken.mp4", fs::file_size(clip) / 2);
  command c(dir, {"overlay", "--input", dir / "broken.mp4", "--input", clip, "--output", dir / "out.mp4"});
  CHECK(c.wait() == 65);
  CHECK_THAT(c.err(), Contains("camera-1/camera") && Contains("broken.mp4"));
  CHECK(frames_in(dir / "out-2.mp4") == 150);
  auto const kept = frames_in(dir / "out.mp4");
  CHECK(kept > 0);
  CHECK(kept < 150);
}

TEST_CASE("the command prints its version, and reports an unknown command", "[command]") {
  folder dir;
  command version(dir, {"--version"});
  CHECK(version.wait() == 0);
  CHECK_THAT(version.out(), Contains("rondo ") && Contains("."));
  refuses(dir, {"bogus"}, 64, "unknown command 'bogus'; see rondo --help");
}

TEST_CASE("an invalid input is reported in one sentence", "[command]") {
  folder dir;
  refuses(dir, {"overlay", "--no-output", "--input", dir / "missing.avi"}, 66, "there is no such file");
  refuses(dir, {"overlay", "--no-output", "--input", dir.path.string()}, 66, "it is a directory");
  std::ofstream(dir / "text.avi") << "Dear diary, today I was renamed.\n";
  refuses(dir, {"overlay", "--no-output", "--input", dir / "text.avi"}, 65, "not a video");
  std::ofstream(dir / "empty.avi").close();
  refuses(dir, {"overlay", "--no-output", "--input", dir / "empty.avi"}, 65, "the file is empty");
  auto const head = make_clip(dir, "head.mp4", 30);
  fs::resize_file(head, 20);
  refuses(dir, {"overlay", "--no-output", "--input", head}, 65, "not a video");
  auto const none = make_clip(dir, "none.mp4", 0);
  refuses(dir, {"overlay", "--no-output", "--input", none}, 65, "none.mp4");
  std::ofstream(dir / "zero.y4m") << "YUV4MPEG2 W160 H120 F25:1 C420jpeg\n";  // a video without frames
  refuses(dir, {"overlay", "--no-output", "--input", dir / "zero.y4m"}, 65, "has no frame");
  refuses(dir, {"overlay", "--no-output", "--preload", "--input", dir / "zero.y4m"}, 65, "has no frame");
}

TEST_CASE("an invalid command line is reported in one sentence", "[command]") {
  folder dir;
  refuses(dir, {"overlay", "--no-output", "--sideways"}, 64, "--sideways");
  refuses(dir, {"overlay"}, 64, "--output");
  refuses(dir, {"overlay", "--no-output", "--frames", "-3"}, 64, "--frames");
  refuses(dir, {"overlay", "--no-output", "--output", "x.mp4"}, 64, "--no-output");
  refuses(dir, {"overlay", "--no-output", "--stills", dir / "nowhere"}, 64, "--stills");
  refuses(dir, {}, 64, "subcommand");
  command help(dir, {"overlay", "--help"});
  CHECK(help.wait() == 0);
  CHECK_THAT(help.out(), Contains("out-2.mp4") && Contains("66 an input does not exist or cannot be read"));
}

TEST_CASE("an invalid configuration is reported in one sentence", "[command]") {
  folder dir;
  std::ofstream(dir / "bad.json") << "{\"teams\": 2,, }";
  refuses(dir, {"overlay", "--no-output", "--config", dir / "bad.json"}, 78, "bad.json");
  std::ofstream(dir / "unknown.json") << "{\"temas\": 2}";
  refuses(dir, {"overlay", "--no-output", "--config", dir / "unknown.json"}, 78, "temas");
  refuses(dir, {"overlay", "--no-output", "--config", dir / "none.json"}, 78, "none.json");
  refuses(dir, {"overlay", "--no-output", "--device", "toaster"}, 78, "device");
  std::ofstream(dir / "capacity.json") << "{\"default_capacity\": 0}";
  refuses(dir, {"overlay", "--no-output", "--config", dir / "capacity.json"}, 78,
          "default_capacity: 0 is refused");
  auto const clip = make_clip(dir, "a.mp4", 5);
  refuses(dir, {"overlay", "--no-output", "--input", clip, "--device", "metal"}, 69, "metal");
  std::ofstream(dir / "torn.rondo") << "no checkpoint";
  refuses(dir, {"overlay", "--no-output", "--input", clip, "--checkpoint", dir / "torn.rondo"}, 78,
          "torn.rondo");
}

TEST_CASE("an output that cannot be written is reported, and other cameras continue", "[command]") {
  folder dir;
  auto const clip = make_clip(dir, "a.mp4", 30);
  refuses(dir, {"overlay", "--input", clip, "--output", dir / "no/such/folder/out.mp4"}, 73,
          "no/such/folder");
  command full(dir, {"overlay", "--input", clip, "--output", "/dev/full"});
  CHECK(full.wait() == 73);
  CHECK_THAT(full.err(), Contains("/dev/full") && Contains("disk is full"));
  command told(dir, {"overlay", "--no-output", "--input", clip}, "/dev/full");
  CHECK(told.wait() == 73);
  CHECK_THAT(told.err(), Contains("standard output cannot be written"));
  refuses(dir,
          {"overlay", "--no-output", "--input", clip, "--checkpoint", dir / "no/such/folder/state.rondo"}, 73,
          "no/such/folder");
  fs::create_directory(dir / "out-2.mp4");
  command second(dir, {"overlay", "--input", clip, "--input", clip, "--output", dir / "out.mp4"});
  CHECK(second.wait() == 73);
  CHECK_THAT(second.err(), Contains("camera-2"));
  CHECK(frames_in(dir / "out.mp4") == 30);
}

TEST_CASE("Ctrl-C ends with a playable file and the table; SIGUSR1 takes a picture before that",
          "[command]") {
  folder dir;
  pipe_camera camera(dir / "endless.y4m");
  std::jthread const feed([&] {
    camera.open();
    while (camera.play(1)) continue;
  });
  command c(dir, {"overlay", "--input", dir / "endless.y4m", "--output", dir / "out.mp4"});
  // The signal handlers are installed before the first frames are written.
  auto const part = dir / "out.mp4.part";  // until it is finished
  while (!fs::exists(part) && !c.ended()) usleep(1000);
  auto const has_picture = [&] {
    return std::ranges::any_of(fs::directory_iterator(dir.path), [](auto const& entry) {
      return entry.path().filename().string().starts_with("camera-1-snapshot-");
    });
  };
  while (!c.ended() && fs::file_size(part) < 4000) usleep(1000);
  REQUIRE_FALSE(c.ended());
  c.signal(SIGUSR1);
  while (!has_picture() && !c.ended()) usleep(1000);
  REQUIRE_FALSE(c.ended());
  c.signal(SIGINT);
  CHECK(c.wait() == 0);
  CHECK_THAT(c.err(), Contains("wrote " + dir.path.string() + "/camera-1-snapshot-"));
  CHECK(frames_in(dir / "out.mp4") > 0);
}

TEST_CASE("a run that was stopped resumes from its checkpoint: no frame is done twice or left out",
          "[command]") {
  folder dir;
  auto const clip = make_clip(dir, "walk.mp4", 600);
  std::vector<std::string> const words{"overlay",
                                       "--input",
                                       clip,
                                       "--output",
                                       dir / "out.mp4",
                                       "--checkpoint",
                                       dir / "state.rondo",
                                       "--checkpoint-every",
                                       "10",
                                       "--buffers",
                                       "1"};
  command first(dir, words);
  REQUIRE(rondo_test::eventually([&] { return fs::exists(dir / "state.rondo") || first.ended(); }));
  first.signal(SIGINT);
  CHECK(first.wait() == 0);
  auto const done = frames_in(dir / "out.mp4");
  REQUIRE(done >= 10);
  REQUIRE(done < 600);
  command second(dir, words);
  CHECK(second.wait() == 0);
  CHECK_THAT(second.err(), Contains("goes on with tick " + std::to_string(done)));
  CHECK(frames_in(dir / ("out-from-" + std::to_string(done) + ".mp4")) == 600 - done);
  CHECK(frames_in(dir / "out.mp4") == done);
  CHECK_FALSE(fs::exists(dir / "state.rondo"));  // it has come to its end
}

TEST_CASE("frames are decoded before the clock starts, if they are to be, and the places are explained",
          "[command]") {
  folder dir;
  auto const clip = make_clip(dir, "walk.mp4", 40);
  command c(dir, {"overlay", "--input", clip, "--output", dir / "out.mp4", "--preload", "--explain",
                  "--frames", "30", "--device", "emulated"});
  CHECK(c.wait() == 0);
  CHECK(frames_in(dir / "out.mp4") == 30);
  CHECK_THAT(c.out(), Contains("find (rondo::video::find_movement): emulated") &&
                          Contains("camera.video copied to emulated: 38400 bytes a frame, 30 so far"));
}
