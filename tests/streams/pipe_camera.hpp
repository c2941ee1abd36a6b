// A camera that reads from a pipe, so that a test knows the job's progress and decides when it ends.
//
// A block walks to and fro in a still scene. The format is YUV4MPEG2, which is decoded by copying.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace command_test {

class pipe_camera {
 public:
  static constexpr int width = 160, height = 120;

  explicit pipe_camera(std::string const& path) : path_(path), frame_(width * height * 3 / 2) {
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  }
  ~pipe_camera() { close(); }

  /// Blocks until the job has opened it too. The calling thread, which then plays, ignores SIGPIPE from now on.
  void open() {
    sigset_t closed;
    sigemptyset(&closed);
    sigaddset(&closed, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &closed, nullptr);
    file_ = ::open(path_.c_str(), O_WRONLY);
    put("YUV4MPEG2 W160 H120 F25:1 Ip A1:1 C420mpeg2\n");
  }
  /// Returns when the job has taken all but a few frames, which the pipe and FFmpeg hold; returns false if the job has
  /// closed the pipe.
  bool play(int frames) {
    for (int i = 0; i < frames && !gone_; ++i, ++number_) {
      int const at = number_ % 200 < 100 ? number_ % 100 : 100 - number_ % 100;
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          bool const block = y >= 30 && y < 90 && x >= at && x < at + 24;
          frame_[static_cast<std::size_t>(y * width + x)] =
              static_cast<char>(block ? 200 : 60 + (x * 7 + y * 3) % 20);
        }
      std::fill(frame_.begin() + width * height, frame_.end(), static_cast<char>(128));
      put("FRAME\n");
      put({frame_.data(), frame_.size()});
    }
    return !gone_;
  }
  void close() {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
  }

 private:
  void put(std::string_view bytes) {
    while (!bytes.empty() && !gone_) {
      auto const written = ::write(file_, bytes.data(), bytes.size());
      if (written <= 0)
        gone_ = true;
      else
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  std::string path_;
  std::vector<char> frame_;
  int file_ = -1, number_ = 0;
  bool gone_ = false;
};

}  // namespace command_test
