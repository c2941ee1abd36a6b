// While frames run, a graph on one memory allocates nothing (a transfer between two does): with a source that decodes
// and a sink that encodes. The frames come from a pipe, so that the test knows how far the graph is.
// counting_malloc.hpp says which allocations count. Pictures and checkpoints do allocate, and none are made here.
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

#include "actors/video/media/file_sink.hpp"
#include "actors/video/media/file_source.hpp"
#include "actors/video/stages/blur.hpp"
#include "actors/video/stages/movement.hpp"
#include "actors/video/stages/sinks.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/streams/counting_malloc.hpp"
#include "tests/streams/pipe_camera.hpp"

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace rondo;

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

}  // namespace

namespace allocations_test {
RONDO_STAGES(stages, video::file_source, video::find_movement, video::draw_movement, video::blur,
             video::file_sink, video::null_sink)
}  // namespace allocations_test

namespace {

using allocations_test::stages;

void name(streams::option_text<1024>& option, std::string const& file) {
  REQUIRE(option.assign(file.data(), file.size()));
}

struct alignas(256) over_aligned {
  char bytes[256];
};

}  // namespace

TEST_CASE("after its first frames a graph allocates nothing on any thread", "[allocations]") {
  bool const encodes = GENERATE(false, true);
  INFO((encodes ? "with an output" : "without output"));
  folder const dir;
  command_test::pipe_camera camera(dir / "camera.y4m");
  runtime rt{use<stages>, {.device = "cpu", .teams = 2}};
  streams::graph g{rt};
  video::file_source::options from{};
  name(from.file, dir / "camera.y4m");
  auto const source = g.add<video::file_source>("source", from);
  auto const find = g.add<video::find_movement>("find");
  auto const draw = g.add<video::draw_movement>("draw");
  auto const soft = g.add<video::blur>("soft");
  g.connect(source.out<"video">(), find.in<"video">());
  g.connect(find.out<"video">(), draw.in<"video">());
  g.connect(find.out<"drawing">(), draw.in<"drawing">());
  g.connect(draw.out<"video">(), soft.in<"video">());
  if (encodes) {
    video::file_sink::options to{};
    name(to.file, dir / "out.mp4");
    g.connect(soft.out<"video">(), g.add<video::file_sink>("sink", to).in<"video">());
  } else {
    g.connect(soft.out<"video">(), g.add<video::null_sink>("sink").in<"video">());
  }
  bool watchdog_looked = true;
  counting::counts counted;
  std::thread starts([&] { g.start(); });  // opening the pipe waits for the camera
  camera.open();
  camera.play(150);
  counting::begin();
  camera.play(300);
  // Until the watchdog has run: its timer fires, and after its check it waits again.
  auto const looked = timers_set.load() + 2;
  auto const until = std::chrono::steady_clock::now() + 60s;
  while (!encodes && timers_set.load() < looked && std::chrono::steady_clock::now() < until) camera.play(10);
  if (!encodes) watchdog_looked = timers_set.load() >= looked;
  counted = counting::end();
  camera.close();
  starts.join();
  CHECK(!g.wait(60s));
  CHECK(watchdog_looked);
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
