// A gate that admits guests. Safepoints and the end of the device close it and wait until no guest is inside.
//
// Threads: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace rondo {

class guest_gate {
 public:
  /// False while it is closed.
  bool enter() {
    std::lock_guard lock(mutex_);
    if (closed_ != 0) return false;
    ++inside_;
    return true;
  }
  void leave() {
    std::lock_guard lock(mutex_);
    if (--inside_ == 0) left_.notify_all();
  }
  /// Closes the gate until `open` was called as often as `close`. False if a guest is still inside at `until`.
  bool close(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    ++closed_;
    return left_.wait_until(lock, until, [this] { return inside_ == 0; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    --closed_;
  }

  /// Takes one of the places 0 to count - 1; returns `count` if none is free.
  std::uint32_t take_place(std::uint32_t count) {
    std::lock_guard lock(mutex_);
    for (std::uint32_t p = 0; p < count; ++p)
      if ((taken_ >> p & 1) == 0) return taken_ |= 1ull << p, p;
    return count;
  }
  void give_back_place(std::uint32_t place) {
    std::lock_guard lock(mutex_);
    taken_ &= ~(1ull << place);
  }

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  std::uint32_t inside_ = 0, closed_ = 0;
  std::uint64_t taken_ = 0;  // one bit per place
};

}  // namespace rondo
