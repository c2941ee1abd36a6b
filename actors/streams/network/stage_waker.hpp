// Wakes a stage that waits for its host side (stage_context::wait), and no other. Its owner's lock guards it.
#pragma once

#include <functional>
#include <mutex>

namespace rondo::streams {

class stage_waker {
 public:
  explicit stage_waker(std::function<void()> wake) : wake_(std::move(wake)) {}
  /// The stage has found nothing, under the same lock, and will wait.
  void want() noexcept { is_wanted_ = true; }
  /// After a change that the stage may wait for: wakes it, if it waits. Releases the lock first, because that sends a
  /// message.
  void notify(std::unique_lock<std::mutex>& lock) {
    if (!is_wanted_ || !wake_) return lock.unlock();
    is_wanted_ = false;
    lock.unlock();
    wake_();
  }

 private:
  std::function<void()> const wake_;
  bool is_wanted_ = false;
};

}  // namespace rondo::streams
