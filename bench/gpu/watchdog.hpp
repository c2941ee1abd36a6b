// Ends the process when a piece of work takes too long, because a hang in a GPU's driver cannot be interrupted.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace rondo::bench::gpu {

/// Threads: `begin` and `end` are called from one thread, in turn. `expired` is called on the watchdog's thread while the
/// other thread is between the two, so it may read everything written before `begin`. It must not return.
class watchdog {
  using clock = std::chrono::steady_clock;

 public:
  explicit watchdog(std::function<void(std::string const& what)> expired)
      : expired_(std::move(expired)), thread_([this] { watch(); }) {}
  ~watchdog() {
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  watchdog(watchdog const&) = delete;
  watchdog& operator=(watchdog const&) = delete;

  void begin(std::string what, std::chrono::seconds limit) {
    {
      std::lock_guard lock(mutex_);
      what_ = std::move(what);
      until_ = clock::now() + limit;
    }
    changed_.notify_one();
  }
  void end() {
    std::lock_guard lock(mutex_);
    until_ = clock::time_point::max();
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!closing_) {
      if (until_ == clock::time_point::max()) {
        changed_.wait(lock);
      } else if (clock::now() < until_) {
        changed_.wait_until(lock, until_);
      } else {
        expired_(what_);  // under the lock, so that `end` comes too late
      }
    }
  }

  std::function<void(std::string const&)> expired_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;  // guarded by mutex_, as are the next two
  clock::time_point until_ = clock::time_point::max();
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace rondo::bench::gpu
