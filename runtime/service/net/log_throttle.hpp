// Limits log lines per cause: a few lines a second, then the number of lines left out.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstdint>

namespace rondo::service {

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

}  // namespace rondo::service
