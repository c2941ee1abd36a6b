// Limits log lines per cause: a few lines a second, then the number of lines left out.
//
// Threads: one for log_throttle, any for throttled_log.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace rondo {

class log_throttle {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::uint32_t lines_per_second = 10;

  /// Whether to log one more line. If not, it is counted.
  bool admits(time_point now) noexcept {
    if (lines_ == 0) began_ = now;
    if (lines_ < lines_per_second) return ++lines_, true;
    ++left_out_;
    return false;
  }
  /// How many lines were left out. Starts over once a second has passed since the first logged line; 0 before that.
  std::uint64_t take_left_out(time_point now) noexcept {
    if (lines_ == 0 || now - began_ < std::chrono::seconds(1)) return 0;
    auto const n = left_out_;
    lines_ = 0;
    left_out_ = 0;
    return n;
  }

 private:
  time_point began_{};
  std::uint32_t lines_ = 0;
  std::uint64_t left_out_ = 0;
};

/// A log for lines of one cause. Whoever can cause lines at will, such as a client, must not fill the disk.
class throttled_log {
 public:
  /// `what` names the lines that were left out, as in "12 more WHAT".
  throttled_log(std::function<void(std::string const&)> log, std::string what)
      : log_(std::move(log)), what_(std::move(what)) {}

  void line(std::string const& text) {
    summarise();
    {
      std::lock_guard const lock(mutex_);
      if (!throttle_.admits(std::chrono::steady_clock::now())) return;
    }
    log_(text);
  }
  /// Logs how many lines were left out. To be called now and then; `line` does it, too.
  void summarise() {
    std::uint64_t left_out = 0;
    {
      std::lock_guard const lock(mutex_);
      left_out = throttle_.take_left_out(std::chrono::steady_clock::now());
    }
    if (left_out != 0) log_(std::to_string(left_out) + " more " + what_);
  }

 private:
  std::function<void(std::string const&)> const log_;
  std::string const what_;
  std::mutex mutex_;
  log_throttle throttle_;  // guarded by the mutex
};

}  // namespace rondo
