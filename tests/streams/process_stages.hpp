// The stages of the tests of ports to processes, and a process that is killed.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "actors/streams/process_ports.hpp"
#include "runtime/os/owned_fd.hpp"
#include "tests/streams/stages.hpp"

namespace stream_test {

inline constexpr std::uint32_t count_of_items = 1000;

struct number_sink : streams::to_process<numbers, "numbers"> {};
struct number_source : streams::from_process<numbers, "numbers"> {};

/// Checks each frame of a `counter` twice, at the begin and, while `holds`, at the end of a wait.
struct process_checker {
  using ports = streams::ports<streams::in<"numbers", numbers>>;
  static constexpr auto where = streams::works::on_host;
  struct counts {
    std::atomic<std::uint64_t> frames{0}, wrong{0}, out_of_order{0}, missing{0}, last{~0ull};
    std::atomic<bool> holds{false};
  };
  struct options {
    counts* found = nullptr;
    std::uint32_t added = 0;
  };
  void process(streams::stage_context<process_checker>& ctx, streams::tick const& t) {
    auto const f = ctx.input<"numbers">();
    auto& found = *ctx.options().found;
    auto const is_wrong = [&] {
      if (f.about.count != count_of_items) return true;
      for (std::uint32_t i = 0; i < f.about.count; ++i)
        if (items(f.data)[i] != static_cast<std::uint32_t>(t.number) + i + ctx.options().added) return true;
      return false;
    };
    bool wrong = is_wrong();
    auto const expected = found.last + 1;
    found.out_of_order += t.number < expected;
    found.missing += t.number > expected ? t.number - expected : 0;
    found.last = t.number;
    ++found.frames;
    while (found.holds) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    wrong = is_wrong() || wrong;
    found.wrong += wrong;
  }
};

RONDO_STAGES(process_stages, counter, adder, number_sink, number_source, process_checker)

inline streams::option_text<108> text_of(std::string const& path) {
  streams::option_text<108> text;
  if (!text.assign(path.data(), path.size())) throw std::runtime_error("the path is too long: " + path);
  return text;
}

#if defined(RONDO_PROCESS_VICTIM)

/// A process_victim; killed in the destructor at the latest.
class victim {
 public:
  victim(std::string role, std::filesystem::path const& socket) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::string program = RONDO_PROCESS_VICTIM, path = socket.string();
    char* const arguments[] = {program.data(), role.data(), path.data(), nullptr};
    int const failed = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    said_ = rondo::owned_fd(ends[0]);
    if (failed) throw std::runtime_error("cannot start " + program);
  }
  ~victim() { static_cast<void>(killed()); }
  victim(victim const&) = delete;
  victim& operator=(victim const&) = delete;
  /// Waits until it has its first frame; false if it ended before.
  bool began() {
    char first = 0;
    return ::read(said_.get(), &first, 1) == 1;
  }
  /// True if this killed it, and it had not ended before.
  bool killed() {
    if (pid_ < 0) return false;
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

 private:
  rondo::owned_fd said_;
  pid_t pid_ = -1;
};

#endif

}  // namespace stream_test
