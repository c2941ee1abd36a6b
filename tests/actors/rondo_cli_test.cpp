// The rondo command as its user meets it: what it writes, what it says when something is wrong, how it exits.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tools/rondo/video_reader.hpp"
#include "tools/rondo/video_writer.hpp"

namespace fs = std::filesystem;
using namespace rondo;
using Catch::Matchers::Contains;

extern char** environ;

namespace {

constexpr int width = 160, height = 120;

/// A directory that goes with the test.
struct folder {
  folder() {
    std::string name = (fs::temp_directory_path() / "rondo-command-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path = name;
  }
  ~folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string operator/(std::string const& file) const { return (path / file).string(); }
  fs::path path;
};

std::string text_of(std::string const& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A clip with a block that walks.
std::string make_clip(folder const& dir, std::string const& name, int frames) {
  tools::video_format format;
  format.width = width;
  format.height = height;
  std::vector<std::byte> memory(overlay::frame_bytes(width, height));
  overlay::carver carver(memory.data());
  auto const view = overlay::carve_frame(carver, width, height);
  tools::video_writer writer(dir / name, format);
  for (int n = 0; n < frames; ++n) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        bool const block = y >= 30 && y < 90 && x >= 10 + 2 * n && x < 34 + 2 * n;
        view.y.at(x, y) = static_cast<std::uint8_t>(block ? 200 : 60 + (x * 7 + y * 3) % 20);
      }
    for (auto const& plane : {view.u, view.v})
      for (int y = 0; y < plane.height; ++y) std::fill_n(plane.row(y), plane.width, std::uint8_t{128});
    writer.write(view);
  }
  writer.close();
  return dir / name;
}

std::int64_t frames_in(std::string const& file) {
  tools::video_reader reader(file);
  std::vector<std::byte> memory(overlay::frame_bytes(reader.width(), reader.height()));
  overlay::carver carver(memory.data());
  auto const view = overlay::carve_frame(carver, reader.width(), reader.height());
  while (reader.read(view)) {
  }
  CHECK(reader.error() == "");
  return reader.frames_read();
}

/// `rondo` with these words, started; its output goes to files.
class command {
 public:
  command(folder const& dir, std::vector<std::string> words) : out_(dir / "stdout"), err_(dir / "stderr") {
    words.insert(words.begin(), RONDO_COMMAND);
    std::vector<char*> argv;
    for (auto& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_addopen(&files, 2, err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    int const failed = posix_spawn(&process_, RONDO_COMMAND, &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) throw std::runtime_error("cannot start " RONDO_COMMAND);
  }
  ~command() {
    if (process_ > 0) kill(process_, SIGKILL), wait();
  }
  void signal(int number) const { kill(process_, number); }
  /// True when it has ended.
  bool ended() {
    siginfo_t info{};
    return process_ <= 0 ||
           (waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == process_);
  }
  /// Its exit status, or 128 and the signal that killed it.
  int wait() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string out() const { return text_of(out_); }
  std::string err() const { return text_of(err_); }

 private:
  std::string out_, err_;
  pid_t process_ = -1;
};

/// Runs it to the end and expects one sentence on standard error that contains `what`.
void refuses(folder const& dir, std::vector<std::string> const& words, int status, std::string const& what) {
  command c(dir, words);
  CHECK(c.wait() == status);
  auto const text = c.err();
  CHECK_THAT(text, Contains(what));
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK_THAT(text, !Contains("terminate called"));
}

}  // namespace

TEST_CASE("rondo overlay writes every frame, five pictures and a table", "[command]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  folder dir;
  auto const clip = make_clip(dir, "walk.mp4", 60);
  command c(dir, {"overlay", "--input", clip, "--output", dir / "out.mp4", "--stills", dir.path.string(),
                  "--device", device});
  CHECK(c.wait() == 0);
  CHECK(c.err() == "");
  CHECK(frames_in(dir / "out.mp4") == 60);
  for (auto const* still : {"000006", "000018", "000030", "000042", "000054"})
    CHECK(fs::exists(dir / ("camera-1-still-" + std::string(still) + ".png")));
  CHECK_THAT(c.out(),
             Contains("camera 1 (walk.mp4)") && Contains("painter 1") && Contains("device " + device));
}

TEST_CASE("each camera has its own output, and one that cannot be opened stops no other", "[command]") {
  folder dir;
  auto const clip = make_clip(dir, "a.mp4", 30);
  command c(dir, {"overlay", "--input", clip, "--input", dir / "nowhere.avi", "--input", clip, "--output",
                  dir / "out.mp4"});
  CHECK(c.wait() == 66);
  CHECK_THAT(c.err(), Contains("camera 2") && Contains("nowhere.avi") && Contains("no such file"));
  CHECK(frames_in(dir / "out.mp4") == 30);
  CHECK(frames_in(dir / "out-3.mp4") == 30);
  CHECK_FALSE(fs::exists(dir / "out-2.mp4"));
}

TEST_CASE("a camera that breaks off is reported by name, and its frames stand", "[command]") {
  folder dir;
  auto const clip = make_clip(dir, "whole.mp4", 150);
  fs::copy_file(clip, dir / "broken.mp4");
  fs::resize_file(dir / "broken.mp4", fs::file_size(clip) / 2);
  command c(dir, {"overlay", "--input", dir / "broken.mp4", "--input", clip, "--output", dir / "out.mp4"});
  CHECK(c.wait() == 65);
  CHECK_THAT(c.err(), Contains("camera 1 (broken.mp4)"));
  CHECK(frames_in(dir / "out-2.mp4") == 150);
  auto const kept = frames_in(dir / "out.mp4");
  CHECK(kept > 0);
  CHECK(kept < 150);
}

TEST_CASE("what is wrong with an input is said in one sentence", "[command]") {
  folder dir;
  refuses(dir, {"overlay", "--no-output", "--input", dir / "missing.avi"}, 66, "there is no such file");
  refuses(dir, {"overlay", "--no-output", "--input", dir.path.string()}, 66, "it is a directory");
  std::ofstream(dir / "text.avi") << "Dear diary, today I was renamed.\n";
  refuses(dir, {"overlay", "--no-output", "--input", dir / "text.avi"}, 65, "not a video");
  std::ofstream(dir / "empty.avi").close();
  refuses(dir, {"overlay", "--no-output", "--input", dir / "empty.avi"}, 65, "the file is empty");
}

TEST_CASE("what is wrong with the command line is said in one sentence", "[command]") {
  folder dir;
  refuses(dir, {"overlay", "--no-output", "--sideways"}, 64, "--sideways");
  refuses(dir, {"overlay"}, 64, "--output");
  refuses(dir, {"overlay", "--no-output", "--frames", "-3"}, 64, "--frames");
  refuses(dir, {"overlay", "--no-output", "--output", "x.mp4"}, 64, "--no-output");
  refuses(dir, {"overlay", "--no-output", "--stills", dir / "nowhere"}, 64, "--stills");
  refuses(dir, {}, 64, "subcommand");
  command help(dir, {"overlay", "--help"});
  CHECK(help.wait() == 0);
  CHECK_THAT(help.out(), Contains("out-2.mp4") && Contains("66 an input cannot be opened"));
}

TEST_CASE("what is wrong with the configuration is said in one sentence", "[command]") {
  folder dir;
  std::ofstream(dir / "bad.json") << "{\"teams\": 2,, }";
  refuses(dir, {"overlay", "--no-output", "--config", dir / "bad.json"}, 78, "bad.json");
  std::ofstream(dir / "unknown.json") << "{\"temas\": 2}";
  refuses(dir, {"overlay", "--no-output", "--config", dir / "unknown.json"}, 78, "temas");
  refuses(dir, {"overlay", "--no-output", "--config", dir / "none.json"}, 78, "none.json");
  refuses(dir, {"overlay", "--no-output", "--device", "toaster"}, 78, "device");
  auto const clip = make_clip(dir, "a.mp4", 5);
  refuses(dir, {"overlay", "--no-output", "--input", clip, "--device", "metal"}, 69, "metal");
  std::ofstream(dir / "torn.rondo") << "no checkpoint";
  refuses(dir, {"overlay", "--no-output", "--input", clip, "--checkpoint", dir / "torn.rondo"}, 78,
          "torn.rondo");
}

TEST_CASE("an output that cannot be written is reported, and other cameras run on", "[command]") {
  folder dir;
  auto const clip = make_clip(dir, "a.mp4", 30);
  refuses(dir, {"overlay", "--input", clip, "--output", dir / "no/such/folder/out.mp4"}, 73,
          "no/such/folder");
  command full(dir, {"overlay", "--input", clip, "--output", "/dev/full"});
  CHECK(full.wait() == 73);
  CHECK_THAT(full.err(), Contains("/dev/full") && Contains("disk is full"));
  fs::create_directory(dir / "out-2.mp4");
  command second(dir, {"overlay", "--input", clip, "--input", clip, "--output", dir / "out.mp4"});
  CHECK(second.wait() == 73);
  CHECK_THAT(second.err(), Contains("camera 2"));
  CHECK(frames_in(dir / "out.mp4") == 30);
}

TEST_CASE("Ctrl-C ends with a playable file and the table; SIGUSR1 takes a picture meanwhile", "[command]") {
  folder dir;
  auto const clip = make_clip(dir, "long.mp4", 3000);
  command c(dir, {"overlay", "--input", clip, "--output", dir / "out.mp4"});
  // The signals are listened to before the first frames are written.
  while (!fs::exists(dir / "out.mp4") && !c.ended()) usleep(1000);
  auto const has_picture = [&] {
    return std::ranges::any_of(fs::directory_iterator(dir.path), [](auto const& entry) {
      return entry.path().filename().string().starts_with("camera-1-snapshot-");
    });
  };
  while (fs::file_size(dir / "out.mp4") < 4000 && !c.ended()) usleep(1000);
  REQUIRE_FALSE(c.ended());
  c.signal(SIGUSR1);
  while (!has_picture() && !c.ended()) usleep(1000);
  REQUIRE_FALSE(c.ended());
  c.signal(SIGINT);
  CHECK(c.wait() == 0);
  CHECK_THAT(c.out(), Contains("camera 1 (long.mp4)") && Contains("picture "));
  auto const frames = frames_in(dir / "out.mp4");
  CHECK(frames > 0);
  CHECK(frames < 3000);
}

TEST_CASE("a run goes on from its checkpoint: no frame is done twice or left out", "[command]") {
  folder dir;
  auto const clip = make_clip(dir, "walk.mp4", 90);
  std::vector<std::string> words{"overlay",
                                 "--input",
                                 clip,
                                 "--output",
                                 dir / "out.mp4",
                                 "--checkpoint",
                                 dir / "state.rondo",
                                 "--checkpoint-every",
                                 "10"};
  auto first = words;
  first.insert(first.end(), {"--frames", "40"});
  CHECK(command(dir, first).wait() == 0);
  CHECK(frames_in(dir / "out.mp4") == 40);
  command second(dir, words);
  CHECK(second.wait() == 0);
  CHECK(second.err() == "");
  CHECK(frames_in(dir / "out-from-40.mp4") == 50);
  CHECK(frames_in(dir / "out.mp4") == 40);
}
