// Collects the outcomes of a batch of tells: the sending thread waits until each mailbox has answered.
// Threads: `expect` and `wait` on the sending thread; `put` from any, once for each message of the batch.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/base/status.hpp"

namespace rondo::service {

class tell_outcomes {
 public:
  void expect(std::size_t count) {
    std::lock_guard lock(mutex_);
    missing_ = count;
    all_.clear();
  }
  void put(std::uint64_t sequence, errc reason) {
    std::lock_guard lock(mutex_);
    all_.emplace_back(sequence, reason);
    if (--missing_ == 0) complete_.notify_one();
  }
  std::vector<std::pair<std::uint64_t, errc>> wait() {
    std::unique_lock lock(mutex_);
    complete_.wait(lock, [&] { return missing_ == 0; });
    return std::move(all_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable complete_;
  std::size_t missing_ = 0;
  std::vector<std::pair<std::uint64_t, errc>> all_;
};

}  // namespace rondo::service
