// A program on a terminal of its own, whose session it leads, as a shell does.
#pragma once

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/eventually.hpp"

namespace command_test {

class on_terminal {
 public:
  explicit on_terminal(std::vector<std::string> words) {
    std::vector<char*> argv;
    for (auto& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    process_ = ::forkpty(&keyboard_, nullptr, nullptr, nullptr);
    if (process_ == 0) {
      ::execvp(argv[0], argv.data());
      ::_exit(127);
    }
    ::fcntl(keyboard_, F_SETFL, O_NONBLOCK);
  }
  ~on_terminal() {
    hang_up();
    if (process_ > 0) ::kill(process_, SIGKILL), wait();
  }
  on_terminal(on_terminal const&) = delete;
  on_terminal& operator=(on_terminal const&) = delete;

  pid_t process() const noexcept { return process_; }
  void type(std::string const& keys) const {
    [[maybe_unused]] auto const typed = ::write(keyboard_, keys.data(), keys.size());
  }
  /// What the screen has shown so far.
  std::string const& shown() {
    char bytes[4096];
    for (ssize_t got = 0; (got = ::read(keyboard_, bytes, sizeof bytes)) > 0;)
      shown_.append(bytes, static_cast<std::size_t>(got));
    return shown_;
  }
  bool shows(std::string const& what) {
    return rondo_test::eventually([&] { return shown().find(what) != std::string::npos; });
  }
  /// Closes the terminal.
  void hang_up() {
    if (keyboard_ >= 0) ::close(std::exchange(keyboard_, -1));
  }
  /// The exit status, or 128 and the signal; -1: it does not end.
  int end() {
    int status = 0;
    bool const ended = rondo_test::eventually([&] {
      if (keyboard_ >= 0) shown();
      return ::waitpid(process_, &status, WNOHANG) == process_;
    });
    if (!ended) return -1;
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  void wait() {
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  int keyboard_ = -1;
  pid_t process_ = -1;
  std::string shown_;
};

}  // namespace command_test
