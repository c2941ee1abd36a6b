// What `rondo overlay` allocates while frames run: nothing. Its job runs here as in the command, and gets its frames from a
// pipe, so that the test knows how far it is. See counting_malloc.hpp for what counts. Pictures and checkpoints, which come
// now and then, do allocate, and none are made here.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/actors/counting_malloc.hpp"
#include "tests/catch.hpp"
#include "tools/rondo/overlay_options.hpp"

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

std::atomic<int> timers_set{0};

}  // namespace

/// Asio sets its timers with this: once when one has fired, and once when a handler waits again. The runtime's watchdog is
/// the one that does so while frames run.
extern "C" int timerfd_settime(int timer, int flags, itimerspec const* next, itimerspec* before) noexcept {
  ++timers_set;
  return static_cast<int>(syscall(SYS_timerfd_settime, timer, flags, next, before));
}

namespace {

constexpr int width = 160, height = 120;

/// A directory that goes with the test.
struct folder {
  folder() {
    std::string name = (fs::temp_directory_path() / "rondo-allocations-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~folder() { fs::remove_all(path); }
  std::string operator/(char const* file) const { return (path / file).string(); }
  fs::path path;
};

/// The camera: a block walks to and fro before a still scene. YUV4MPEG2, which decodes by copying.
class pipe_camera {
 public:
  explicit pipe_camera(std::string const& path) : path_(path), frame_(width * height * 3 / 2) {
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  }
  ~pipe_camera() { close(); }

  /// Blocks until the job opens it, too.
  void open() {
    file_ = ::open(path_.c_str(), O_WRONLY);
    put("YUV4MPEG2 W160 H120 F25:1 Ip A1:1 C420mpeg2\n");
  }
  /// Returns once the job has taken all of them but a few, which the pipe and FFmpeg hold.
  void play(int frames) {
    for (int i = 0; i < frames; ++i, ++number_) {
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
  }
  void close() {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
  }

 private:
  void put(std::string_view bytes) {
    while (!bytes.empty()) {
      auto const written = ::write(file_, bytes.data(), bytes.size());
      if (written <= 0) std::abort();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  std::string path_;
  std::vector<char> frame_;
  int file_ = -1, number_ = 0;
};

/// Sends what is written to standard output to a file for as long as it lives.
class output_to_file {
 public:
  explicit output_to_file(std::string const& path) : kept_(dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    int const file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
    ::close(file);
  }
  ~output_to_file() {
    std::fflush(stdout);
    dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
  }

 private:
  int kept_;
};

struct alignas(256) over_aligned {
  char bytes[256];
};

}  // namespace

TEST_CASE("after its first frames rondo overlay allocates nothing, on no thread", "[overlay][allocations]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bool const encodes = GENERATE(false, true);
  INFO(device << (encodes ? ", with an output" : ", without output"));
  folder const dir;
  pipe_camera camera(dir / "camera.y4m");
  rondo::tools::overlay_options options;
  options.inputs = {dir / "camera.y4m"};
  options.no_output = !encodes;
  options.output = dir / "out.mp4";
  options.device = device;
  options.teams = 2;
  options.explain = true;

  int status = -1;
  bool watchdog_looked = true;
  counting::counts counted;
  {
    output_to_file const quiet(dir / "stdout");
    std::thread job([&] { status = rondo::tools::run_overlay(options); });
    camera.open();
    camera.play(150);
    counting::begin();
    camera.play(300);
    // Until the watchdog has looked: it fires, and after its look it waits again.
    auto const looked = timers_set.load() + 2;
    auto const until = std::chrono::steady_clock::now() + 60s;
    while (!encodes && timers_set.load() < looked && std::chrono::steady_clock::now() < until)
      camera.play(10);
    if (!encodes) watchdog_looked = timers_set.load() >= looked;
    counted = counting::end();
    camera.close();
    job.join();
  }
  CHECK(status == 0);
  CHECK(watchdog_looked);
  int pools = 0;
  std::ifstream told(dir / "stdout");
  for (std::string line; std::getline(told, line);) {
    if (!line.starts_with("buffers (")) continue;
    ++pools;  // whose blocks are no business of malloc's where they are a device's
    CHECK_THAT(line, Contains("blocks claimed before the first frame, 0 while frames ran"));
  }
  CHECK(pools == (device == "cpu" ? 1 : 3));
  CHECK(counted.ours == 0);
  CHECK(counted.of_libraries > 0);  // FFmpeg's decoder: so the counter did count
  if (counted.ours != 0) counting::print_stacks();
}

TEST_CASE("the counter sees each way to allocate, on each thread", "[allocations]") {
  std::string const text(100, 'x');
  void* volatile sink = nullptr;
  std::atomic<int> turn{0};
  std::thread other([&] {
    while (turn.load(std::memory_order_acquire) == 0) std::this_thread::yield();
    std::free(std::exchange(sink, std::malloc(8)));
    turn.store(2, std::memory_order_release);
  });
  counting::begin();
  auto const copy = text;
  auto const aligned = std::make_unique<over_aligned>();
  sink = std::realloc(std::calloc(1, 8), 64);
  turn.store(1, std::memory_order_release);
  while (turn.load(std::memory_order_acquire) != 2) std::this_thread::yield();
  auto const counted = counting::end();
  other.join();
  std::free(sink);
  CHECK(counted.ours == 5);
}
