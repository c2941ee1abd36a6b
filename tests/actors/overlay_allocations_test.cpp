// While frames run, `rondo overlay` allocates nothing. The job runs here as in the command, and gets its frames from a
// pipe, so that the test knows its progress. counting_malloc.hpp describes which allocations count. Pictures and
// checkpoints do allocate, and none are made here.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "tests/actors/counting_malloc.hpp"
#include "tests/actors/pipe_camera.hpp"
#include "tests/catch.hpp"
#include "tools/overlay/overlay_options.hpp"

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

std::atomic<int> timers_set{0};

}  // namespace

/// Asio sets its timers with this function: once when a timer has fired, and once when a handler waits again. While
/// frames run, only the runtime's watchdog does so.
extern "C" int timerfd_settime(int timer, int flags, itimerspec const* next, itimerspec* before) noexcept {
  ++timers_set;
  return static_cast<int>(syscall(SYS_timerfd_settime, timer, flags, next, before));
}

namespace {

/// A directory that is removed with the object.
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

/// Redirects standard output to a file during its lifetime.
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

TEST_CASE("after its first frames rondo overlay allocates nothing on any thread", "[overlay][allocations]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bool const encodes = GENERATE(false, true);
  INFO(device << (encodes ? ", with an output" : ", without output"));
  folder const dir;
  command_test::pipe_camera camera(dir / "camera.y4m");
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
    // Until the watchdog has run: its timer fires, and after its check it waits again.
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
    ++pools;  // a device's blocks do not come from malloc
    CHECK_THAT(line, Contains("blocks claimed before the first frame, 0 while frames ran"));
  }
  CHECK(pools == (device == "cpu" ? 1 : 3));
  CHECK(counted.ours == 0);
  CHECK(counted.of_libraries > 0);  // FFmpeg's decoder allocates, so the counter did count
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
