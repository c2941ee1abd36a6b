// A process some of whose standard streams are closed, full, or pipes whose other end is closed.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>

#include <stdexcept>
#include <string>
#include <vector>

namespace command_test {

enum class stream_is { whole, closed, full, broken_pipe };
inline constexpr stream_is breakages[] = {stream_is::closed, stream_is::full, stream_is::broken_pipe};

inline char const* name_of(stream_is how) {
  constexpr char const* names[] = {"whole", "closed", "full", "a pipe that nobody holds"};
  return names[static_cast<int>(how)];
}

/// Whole streams are /dev/null and files.
class broken_process {
 public:
  using streams = std::array<stream_is, 3>;

  broken_process(std::string const& program, std::vector<std::string> words, streams how,
                 std::string const& out, std::string const& err) {
    words.insert(words.begin(), program);
    std::vector<char*> argv;
    for (auto& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    int pipes[3][2];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    char const* const files[] = {"/dev/null", out.c_str(), err.c_str()};
    for (int fd = 0; fd < 3; ++fd) {
      int const flags = fd == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
      switch (how[static_cast<std::size_t>(fd)]) {
        case stream_is::whole:
          posix_spawn_file_actions_addopen(&actions, fd, files[fd], flags, 0644);
          break;
        case stream_is::closed:
          posix_spawn_file_actions_addclose(&actions, fd);
          break;
        case stream_is::full:
          posix_spawn_file_actions_addopen(&actions, fd, "/dev/full", fd == 0 ? O_RDONLY : O_WRONLY, 0);
          break;
        case stream_is::broken_pipe:
          if (pipe2(pipes[fd], O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
          posix_spawn_file_actions_adddup2(&actions, pipes[fd][fd == 0 ? 0 : 1], fd);
          close(pipes[fd][fd == 0 ? 1 : 0]);
          break;
      }
    }
    posix_spawnattr_t attributes;  // a test runner may ignore SIGPIPE; the command starts as from a shell
    posix_spawnattr_init(&attributes);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int const failed = posix_spawn(&process_, program.c_str(), &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    for (std::size_t fd = 0; fd < 3; ++fd)
      if (how[fd] == stream_is::broken_pipe) close(pipes[fd][fd == 0 ? 0 : 1]);
    if (failed != 0) throw std::runtime_error("cannot start " + program);
  }
  ~broken_process() {
    if (process_ > 0) kill(process_, SIGKILL), wait();
  }
  broken_process(broken_process const&) = delete;
  broken_process& operator=(broken_process const&) = delete;

  void signal(int number) const { kill(process_, number); }
  /// Its exit status, or 128 and the signal that killed it.
  int wait() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// Whether it has ended; then as `wait`.
  bool has_ended(int& status) {
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (info.si_pid != process_) return false;
    status = wait();
    return true;
  }

 private:
  pid_t process_ = -1;
};

}  // namespace command_test
