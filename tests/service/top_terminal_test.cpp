// `rondo top` on a real terminal, which tmux provides and reads back. Cases with [tmux] or [python] need that program.
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/service/basics_fixture.hpp"
#include "tests/service/programs.hpp"
#include "tests/service/terminal.hpp"

using namespace service_test;
using Catch::Matchers::Contains;

TEST_CASE("the terminal shows actors, obeys keys and resizing, and is restored afterwards", "[top][tmux]") {
  bool const colours = GENERATE(true, false);
  terminal t(std::string(colours ? "" : "NO_COLOR=1 ") + TOP_DEMO " --still --interval 50", 80, 24);
  INFO(t.screen);
  REQUIRE(t.shows("archive"));
  CHECK_THAT(t.screen, Contains("rondo top") && Contains("730") && Contains("18 of 1024 actors"));
  auto const drawn = t.tmux("capture-pane -p -e");
  CHECK((drawn.find("38;5;") != std::string::npos) == colours);

  t.press("d");
  t.press("Enter");
  REQUIRE(t.shows("waiting, by priority"));
  CHECK(t.shows("584"));
  CHECK_THAT(t.screen, Contains("146") && Contains("730 of 1000"));
  t.press("Escape");
  REQUIRE(t.shows("PAST"));
  t.tmux("resize-window -x 150 -y 45");
  REQUIRE(t.shows("BEHAVIOUR"));
  t.press("/ s e s s i o n . 7 Enter");
  REQUIRE(t.shows("session.7 (1 found)"));
  CHECK_THAT(t.screen, !Contains("archive"));
  t.press("'?'");
  REQUIRE(t.shows("any key to close"));
  t.press("x s");
  REQUIRE(t.shows("saved as rondo-report-"));
  auto const file = std::filesystem::directory_iterator(t.directory());
  auto const saved = std::ranges::find_if(begin(file), end(file),
                                          [](auto const& e) { return e.path().extension() == ".json"; });
  REQUIRE(saved != end(file));
  CHECK_THAT(text_of(saved->path().string()), Contains("\"name\": \"archive\""));
  t.press("q");
  CHECK(t.shows("ended with 0"));
}

TEST_CASE("Ctrl-C restores the terminal", "[top][tmux]") {
  terminal t(TOP_DEMO " --still --interval 50", 80, 24);
  REQUIRE(t.shows("archive"));
  t.press("C-c");
  CHECK(t.shows("ended with 0"));
}

TEST_CASE("an unsuitable terminal is refused with an alternative", "[top][tmux]") {
  std::string const name = GENERATE("dumb-as-bread", "dumb");
  terminal t("TERM=" + name + " " TOP_DEMO " --still", 120, 24);
  CHECK(t.shows("ended with 1"));
  CHECK_THAT(t.screen, Contains("TERM=" + name) && Contains("--once"));
}

TEST_CASE("output that is not a terminal is refused with an alternative", "[top]") {
  auto const [status, said] = run(TOP_DEMO " --still </dev/null");
  CHECK(status != 0);
  CHECK_THAT(said, Contains("--once"));
}

TEST_CASE("a terminal of forty columns shows as much as fits", "[top][tmux]") {
  terminal t(TOP_DEMO " --still --interval 50", 40, 10);
  CHECK(t.shows("rondo top"));
  CHECK(t.shows(" live  up "));  // nothing overlaps
  CHECK(t.shows("archive"));
  t.press("q");
  CHECK(t.shows("ended with 0"));
}

TEST_CASE("one screen, or one report, can be written to a file", "[top]") {
  auto const text = run("LC_ALL=C.UTF-8 " TOP_DEMO " --still --once --interval 20");
  CHECK(text.first == 0);
  CHECK_THAT(text.second,
             Contains("session.7") && Contains("archive") && Contains("conserved") && !Contains("\x1b"));
  auto const plain = run("LC_ALL=C " TOP_DEMO " --still --once --interval 20").second;
  CHECK(std::ranges::all_of(plain, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  auto const json = run(TOP_DEMO " --still --once --json --interval 20").second;
  CHECK_THAT(json, Contains("\"handled_per_second\"") && Contains("\"report\": {"));
}

TEST_CASE("another program can read the report", "[top][python]") {
  auto const checked = run(TOP_DEMO " --still --once --json --interval 20 | " RONDO_PYTHON
                                    " -c 'import json,sys; d=json.load(sys.stdin); "
                                    "print(len(d[\"actors\"]), d[\"report\"][\"waiting\"])'");
  CHECK(checked.second == "18 730\n");
}

namespace {

/// A terminal that the test itself holds.
class held_terminal {
 public:
  /// Runs the words there; signals that the test ignores stay ignored.
  explicit held_terminal(std::vector<std::string> words) {
    winsize const size{24, 80, 0, 0};
    process_ = forkpty(&master_, nullptr, nullptr, &size);
    if (process_ < 0) throw std::runtime_error("no terminal");
    if (process_ != 0) return;
    std::vector<char*> argv;
    for (auto& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    setenv("TERM", "xterm", 1);
    execv(argv[0], argv.data());
    _exit(127);
  }
  ~held_terminal() {
    close();
    if (process_ > 0) kill(process_, SIGKILL), waitpid(process_, nullptr, 0);
  }
  void close() {
    if (master_ >= 0) ::close(std::exchange(master_, -1));
  }
  void press(char key) const { CHECK(::write(master_, &key, 1) == 1); }
  void resize(unsigned short rows, unsigned short columns) const {
    winsize const size{rows, columns, 0, 0};
    CHECK(ioctl(master_, TIOCSWINSZ, &size) == 0);
  }
  /// Reads until it shows this.
  bool shows(std::string const& what) {
    return eventually([&] {
      read();
      return seen_.find(what) != std::string::npos;
    });
  }
  /// Its exit status, or 128 and the signal that killed it; -1: it has not ended. Reads what it still draws.
  int ended() {
    int status = 0;
    if (!eventually([&] {
          read();
          return waitpid(process_, &status, WNOHANG) == process_;
        }))
      return -1;
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  void read() {
    pollfd drawn{master_, POLLIN, 0};
    char text[4096];
    if (master_ < 0 || poll(&drawn, 1, 0) != 1) return;
    if (auto const n = ::read(master_, text, sizeof text); n > 0)
      seen_.append(text, static_cast<std::size_t>(n));
  }

  int master_ = -1;
  pid_t process_ = -1;
  std::string seen_;
};

}  // namespace

TEST_CASE("a window of any size is drawn on, and ends as usual", "[top]") {
  held_terminal t({TOP_DEMO, "--still", "--interval", "50", "--ascii"});
  REQUIRE(t.shows("archive"));
  for (auto const& [rows, columns] : {std::pair{65535, 65535}, {1, 40000}, {40000, 1}, {1, 1}, {30, 32768}}) {
    t.resize(static_cast<unsigned short>(rows), static_cast<unsigned short>(columns));
    t.press('?');
    t.press('x');
  }
  t.press('q');
  CHECK(t.ended() == 0);
}

TEST_CASE("a program whose terminal is gone ends, also if it ignores SIGHUP", "[top]") {
  auto const before = std::signal(SIGHUP, SIG_IGN);
  held_terminal t({TOP_DEMO, "--still", "--interval", "50", "--ascii"});
  CHECK(t.shows("archive"));
  t.close();
  CHECK(t.ended() == 0);
  std::signal(SIGHUP, before);
}
