// Fixture of the tests of the rondo command: a temporary folder, small clips, and the command as a process.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "actors/video/files/video_reader.hpp"
#include "actors/video/files/video_writer.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"

namespace command_test {

namespace fs = std::filesystem;
namespace video = rondo::video;
using Catch::Matchers::Contains;

inline constexpr int width = 160, height = 120;

/// A directory that is removed with the object.
struct folder {
  explicit folder(fs::path const& parent = fs::temp_directory_path()) {
    std::string name = (parent / "rondo-command-XXXXXX").string();
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

inline std::string text_of(std::string const& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A clip with a moving block.
inline std::string make_clip(folder const& dir, std::string const& name, int frames) {
  video::image format{width, height};
  format.rate_num = 25;
  std::vector<std::byte> memory(video::frame_bytes(width, height));
  video::carver carver(memory.data());
  auto const view = video::carve_frame(carver, width, height);
  video::video_writer writer(dir / name, video::writing{});
  writer.begin(format);
  for (int n = 0; n < frames; ++n) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        bool const block = y >= 30 && y < 90 && x >= 10 + 2 * n && x < 34 + 2 * n;
        view.y.at(x, y) = static_cast<std::uint8_t>(block ? 200 : 60 + (x * 7 + y * 3) % 20);
      }
    for (auto const& plane : {view.u, view.v})
      for (int y = 0; y < plane.height; ++y) std::fill_n(plane.row(y), plane.width, std::uint8_t{128});
    writer.write(memory.data(), {static_cast<std::uint64_t>(n) * 40'000'000, 0});
  }
  writer.close();
  return dir / name;
}

/// What a killed process leaves may end within a fragment: it is `torn`, and a reader says that the rest is missing, or
/// counts a packet that is marked, and one that cannot be decoded.
inline std::int64_t frames_in(std::string const& file, bool torn = false) {
  video::video_reader reader(file);
  std::int64_t frames = 0;
  while (reader.next()) ++frames;
  INFO(reader.error());
  CHECK((reader.error().empty() || (torn && reader.damaged() <= 2)));
  return frames;
}

/// Runs `rondo` with these arguments; its output goes to files, or to `out`.
class command {
 public:
  command(folder const& dir, std::vector<std::string> words, std::string out = {})
      : out_(out.empty() ? dir / "stdout" : std::move(out)), err_(dir / "stderr") {
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
  pid_t process() const { return process_; }
  void signal(int number) const { kill(process_, number); }
  /// True if it has ended.
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
  /// Standard error without what a run on a busy machine shows: progress, and handlers that were kept from running.
  std::string complaints() const {
    return std::regex_replace(
        err(),
        std::regex("camera \\d+ +\\d+/\\d+ frames +[0-9.]+ frames/s *\\n|"
                   "[^\\n]*team \\d+ has run actor [^\\n]* for more than \\d+ ms[^\\n]*\\n"),
        "");
  }
  std::string err() const { return text_of(err_); }

 private:
  std::string out_, err_;
  pid_t process_ = -1;
};

/// Its exit status; -1: it does not end.
inline int end_of(command& c) {
  return rondo_test::eventually([&] { return c.ended(); }) ? c.wait() : -1;
}

}  // namespace command_test
