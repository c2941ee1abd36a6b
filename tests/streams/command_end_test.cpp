// How the commands that run for a while end: by their work, by signals, with their terminal.
#include <thread>

#include "tests/actors/command_fixture.hpp"
#include "tests/actors/on_terminal.hpp"
#include "tests/eventually.hpp"
#include "tests/streams/endless_graph.hpp"
#include "tests/streams/pipe_camera.hpp"
#include "tests/variables.hpp"

using namespace command_test;
using rondo_test::eventually;
using rondo_test::preloading;
using rondo_test::variables;

namespace {

/// The flags of the open file that is standard input of a process: other processes may share it.
long flags_of_input(pid_t process) {
  std::ifstream info("/proc/" + std::to_string(process) + "/fdinfo/0");
  for (std::string word; info >> word;)
    if (word == "flags:" && info >> word) return std::stol(word, nullptr, 8);
  return -1;
}

std::string const run_in_background =
    "set -m; \"$@\" >out 2>err & echo job $!; wait $!; echo ended with $?; read p; read end";  // p: see below

}  // namespace

TEST_CASE("a command ends when its work or a signal says so, however late each of its waits is",
          "[command]") {
  auto set = preloading(RONDO_DELAYED_WAITS);
  set.emplace_back("WAIT_DELAY_MS", "550");
  variables const late(set);
  struct run {
    char const* what;
    std::vector<std::string> words;
    std::string begun;  // what it then writes to standard error
    int signal;         // 0: it ends by itself
  };
  folder const dir;
  auto const clip = make_clip(dir, "clip.mp4", 20);
  auto const graph = graph_file(dir);
  std::vector<std::string> const stream{"stream", graph, "--metrics", "127.0.0.1:0"};
  std::vector<run> const runs{
      {"stream that has ended", {"stream", graph, "--ticks", "20", "--rate", "0"}, "", 0},
      {"stream at Ctrl-C", stream, "metrics at", SIGINT},
      {"stream at SIGTERM", stream, "metrics at", SIGTERM},
      {"stream at SIGHUP", stream, "metrics at", SIGHUP},
      {"overlay that has ended", {"overlay", "--input", clip, "--no-output"}, "", 0},
      {"serve",
       {"serve", "--listen", "unix:" + (dir / "service.sock"), "--actor", "a=counter"},
       "ready",
       SIGTERM},
  };
  std::vector<std::unique_ptr<folder>> folders;
  std::vector<std::unique_ptr<command>> commands;
  for (auto const& r : runs) {
    folders.push_back(std::make_unique<folder>());
    // Longer than the period of any of its timers: half a second; a quarter of a service.
    if (r.words.front() == "serve") ::setenv("WAIT_DELAY_MS", "280", 1);
    commands.push_back(std::make_unique<command>(*folders.back(), r.words));
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    INFO(runs[i].what);
    auto& c = *commands[i];
    if (runs[i].signal != 0) {
      REQUIRE(eventually([&] { return c.err().find(runs[i].begun) != std::string::npos; }));
      c.signal(runs[i].signal);
    }
    int const status = end_of(c);
    INFO(c.err());
    CHECK(status == 0);
  }
}

TEST_CASE("a command whose messages cannot be written ends like any other", "[command]") {
  folder const dir;
  fs::create_symlink("/dev/full", dir / "stderr");
  command c(dir, {"stream", graph_file(dir), "--listen", "unix:" + (dir / "watch.sock")});
  REQUIRE(eventually([&] { return fs::exists(dir / "watch.sock"); }));
  c.signal(SIGINT);
  CHECK(end_of(c) == 0);
  CHECK_THAT(c.out(), Contains("screen"));
}

// ThreadSanitizer runs a handler only once the call that the signal interrupts has returned: here, never.
#if !defined(__SANITIZE_THREAD__)
TEST_CASE("a second signal ends a command at once, whatever its threads wait for", "[command]") {
  folder const dir;
  auto const pipe = dir / "video";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);  // nobody reads it, so the graph cannot start
  command c(dir, {"stream", graph_file(dir, endless_graph("file_sink")), "--set", "screen.file=" + pipe,
                  "--metrics", "127.0.0.1:0"});
  REQUIRE(eventually([&] { return c.err().find("metrics at") != std::string::npos; }));
  CHECK(eventually([&] {
    c.signal(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // they are meant to be several, not one
    return c.ended();
  }));
  if (c.ended()) CHECK(c.wait() == 128 + SIGINT);
}
#endif

TEST_CASE("a command in the background is not stopped by keys, and does not change its shell's terminal",
          "[command]") {
  folder const dir;
  pipe_camera camera(dir / "endless.y4m");
  std::jthread const feed([&] {
    camera.open();
    while (camera.play(1)) continue;
  });
  auto const output = dir / "out.mp4";
  // The overlay first: the feed ends with it.
  for (auto const& words :
       {std::vector<std::string>{"overlay", "--input", dir / "endless.y4m", "--output", output},
        std::vector<std::string>{"stream", graph_file(dir), "--metrics", "127.0.0.1:0"}}) {
    INFO(words.front());
    std::vector<std::string> all{"sh", "-c", "cd " + dir.path.string() + "; " + run_in_background, "sh",
                                 RONDO_COMMAND};
    all.insert(all.end(), words.begin(), words.end());
    on_terminal shell(all);
    REQUIRE(shell.shows("job "));
    auto const begun = [&] {
      return words.front() == "stream" ? text_of(dir / "err").find("metrics at") != std::string::npos
                                       : fs::exists(output) || fs::exists(output + ".part");
    };
    REQUIRE(eventually(begun));
    auto const flags = flags_of_input(shell.process());
    CHECK(flags > 0);
    CHECK((flags & O_NONBLOCK) == 0);
    shell.type("p\n");
    REQUIRE(shell.shows("p\r\n"));  // the terminal has it
    auto const job = std::stoi(shell.shown().substr(shell.shown().find("job ") + 4));
    REQUIRE(::kill(job, SIGINT) == 0);
    CHECK(shell.shows("ended with 0"));
    CHECK((flags_of_input(shell.process()) & O_NONBLOCK) == 0);
    ::kill(job, SIGKILL);
  }
}

TEST_CASE("a command in the foreground reads keys, and ends in order when its terminal is closed",
          "[command]") {
  folder const dir;
  auto const output = dir / "out.mp4", part = output + ".part";
  // Its table has another place than the terminal, which will be gone.
  on_terminal rondo({"sh", "-c", "exec \"$@\" >" + (dir / "table"), "sh", RONDO_COMMAND, "stream",
                     graph_file(dir, endless_graph("file_sink")), "--set", "screen.file=" + output, "--set",
                     "screen.rate=25"});
  rondo.type("p\n");
  REQUIRE(rondo.shows("; paused"));
  auto const paused_at = fs::file_size(part);
  rondo.type("p\n");
  REQUIRE(eventually([&] { return fs::file_size(part) > paused_at + 2000; }));
  rondo.hang_up();
  CHECK(rondo.end() == 0);
  CHECK(frames_in(output) > 0);
  CHECK_THAT(text_of(dir / "table"), Contains("screen"));
}
