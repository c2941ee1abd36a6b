// Waiting and ending of a command that runs for a while: one way for all of them.
//
//   command_loop loop;                                   // from here on, signals are caught
//   loop.on_stop([&](int) { graph.stop(); });            // SIGINT, SIGTERM or SIGHUP
//   loop.every(500ms, [&] { show_progress(); });
//   ...                                                  // another thread: loop.end(), when the work is done
//   loop.run();
//
// **Signals.** The first SIGINT, SIGTERM or SIGHUP asks the command to end in order. A SIGINT or SIGTERM after that
// ends the process at once, even if all its threads hang, because the handler does it; signals within 0.2 s of the
// first count as the same one, since `timeout` and shells send theirs twice. A terminal that is closed sends SIGHUP.
// SIGHUP stays ignored if it was (nohup). **Keys** are read only while the process is in the foreground of its
// terminal, through a descriptor of its own: the flags of the one that it shares with its shell do not change, and a
// job in the background does not stop.
// **Invariant**: that the loop has ended is a state at which each wait looks, not an event that a wait could miss. So
// nothing has to be cancelled, and a slow wait only delays the end.
//
// Threads: one, except where it says any. One object at a time in a process. The functions are called on the thread of
// `run`.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/os/owned_fd.hpp"

namespace rondo::tools {

/// Catches the signals that end a command, while it lives. For a command that has a loop of its own.
class stop_signals {
 public:
  /// `reloads`: SIGHUP does not end this command; see `add`.
  explicit stop_signals(bool reloads = false);
  ~stop_signals();
  stop_signals(stop_signals const&) = delete;
  stop_signals& operator=(stop_signals const&) = delete;

  /// The first signal that asked the command to end; 0: none yet. Threads: any.
  int arrived() const noexcept;
  /// Catches another signal, too. It interrupts and ends nothing.
  void add(int signal);
  /// True once for each time that the added signal has arrived; several at once count as one.
  bool take(int signal) noexcept;
  /// Readable after each signal, until it is read.
  int descriptor() const noexcept { return wake_.get(); }
  /// Makes `descriptor` readable. Threads: any.
  void wake() noexcept;

 private:
  struct replaced {
    int signal;
    struct sigaction before;
  };
  void replace(int signal, void (*handler)(int));

  owned_fd wake_, wakes_;  // a pipe: the end to read, and the end that signals write to
  std::vector<replaced> replaced_;
};

/// The lines that are typed at the process's terminal, while the process is in the foreground.
class terminal_lines {
 public:
  /// Opens the terminal, if standard input is one.
  terminal_lines();
  /// What to wait for, or -1: there is no terminal, or the process is in its background.
  int descriptor() const noexcept;
  bool is_open() const noexcept { return static_cast<bool>(terminal_); }
  /// Reads what there is, without waiting, and calls `use` with each whole line. A terminal that is gone, or has ended
  /// (Ctrl-D), is closed.
  void read(std::function<void(std::string_view)> const& use);

 private:
  owned_fd terminal_;
  std::string text_;  // of a line that is not whole yet
};

class command_loop {
 public:
  /// `reloads`: SIGHUP does not end this command; see `on_signal`.
  explicit command_loop(bool reloads = false) : signals_(reloads) {}

  /// Called once, with the signal.
  void on_stop(std::function<void(int signal)> f) { on_stop_ = std::move(f); }
  /// Called for another signal, such as SIGUSR1; or SIGHUP, if it reloads.
  void on_signal(int signal, std::function<void()> f);
  /// Called with each line that is typed.
  void on_line(std::function<void(std::string_view)> f);
  /// Called again and again, with this pause.
  void every(std::chrono::milliseconds pause, std::function<void()> f);

  /// Calls a function once, in the order of these calls, unless the loop ends before. Threads: any.
  void post(std::function<void()> f);
  /// Lets `run` return after the function that runs at the moment. Threads: any.
  void end() noexcept;
  /// Returns after `end`. Throws what a function throws.
  void run();
  /// A signal has asked the command to end. Threads: any.
  bool is_asked_to_stop() const noexcept { return signals_.arrived() != 0; }

 private:
  using clock = std::chrono::steady_clock;
  struct timer {
    std::chrono::milliseconds pause;
    clock::time_point due;
    std::function<void()> work;
  };
  struct handler {
    int signal;
    std::function<void()> work;
  };
  int wait_ms() const;
  void wait();
  void handle_signals();
  void call_posted();
  void call_due();

  stop_signals signals_;
  std::function<void(int)> on_stop_;
  std::function<void(std::string_view)> on_line_;
  std::vector<handler> handlers_;
  std::vector<timer> timers_;
  terminal_lines keys_;
  bool has_told_stop_ = false;
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by mutex_
};

}  // namespace rondo::tools
