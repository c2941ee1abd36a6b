// Lets guests run, or nobody: a safepoint, or the end, waits until none is inside.
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
  /// Lets nobody in, until as many `open` as there were calls; false when somebody is inside still at `until`.
  bool close(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    ++closed_;
    return left_.wait_until(lock, until, [this] { return inside_ == 0; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    --closed_;
  }

  /// One of `count` places, from 0; `count` when none is free.
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
  std::uint64_t taken_ = 0;  // a bit for each place
};

}  // namespace rondo
