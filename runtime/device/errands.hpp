// Work that other threads have one thread do for them, because only that thread may touch something.
//
// Threads: `run` from any; `open`, `serve` and `close` from the one that serves. While nobody serves, `run`
// does the work on the caller's thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "kernels/atomic.hpp"
#include "runtime/device/doorbell.hpp"

namespace rondo {

class errands {
 public:
  /// A quick one may be done in the middle of something else; a whole one only between two steps.
  enum class kind { quick, whole };

  /// `bell` wakes the thread that serves.
  explicit errands(doorbell& bell) noexcept : bell_(bell) {}

  /// Returns when `work` was done, and throws what it threw. False when it was not begun within `limit`.
  bool run(kind k, std::chrono::nanoseconds limit, std::function<void()> work) {
    std::unique_lock lock(mutex_);
    if (server_ == std::this_thread::get_id()) lock.unlock();
    if (!lock.owns_lock() || server_ == std::thread::id{})  // the lock keeps a server from starting meanwhile
      return work(), true;
    errand e{k, std::move(work), false, false, {}};
    waiting_.push_back(&e);
    count_.fetch_add(1, memory_order::relaxed);  // relaxed: a hint; the mutex hands the errand over
    bell_.ring();
    changed_.wait_for(lock, limit, [&] { return e.begun; });
    if (!e.begun) {
      std::erase(waiting_, &e);
      count_.fetch_sub(1, memory_order::relaxed);
      return false;
    }
    changed_.wait(lock, [&] { return e.done; });
    if (e.error) std::rethrow_exception(e.error);
    return true;
  }

  bool any() const noexcept { return count_.load(memory_order::relaxed) != 0; }  // relaxed: a hint

  /// From here on the calling thread serves.
  void open() {
    std::lock_guard lock(mutex_);
    server_ = std::this_thread::get_id();
  }
  /// Does what waits: all, or only quick errands.
  void serve(kind most) {
    if (!any()) return;
    std::unique_lock lock(mutex_);
    serve(lock, most);
  }
  /// Does what waits, and serves no more.
  void close() {
    std::unique_lock lock(mutex_);
    serve(lock, kind::whole);
    server_ = {};
  }

 private:
  struct errand {
    kind what;
    std::function<void()> work;
    bool begun = false, done = false;
    std::exception_ptr error;
  };

  void serve(std::unique_lock<std::mutex>& lock, kind most) {
    for (std::size_t i = 0; i < waiting_.size();) {
      errand& e = *waiting_[i];
      if (e.what == kind::whole && most == kind::quick) {
        ++i;
        continue;
      }
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      count_.fetch_sub(1, memory_order::relaxed);
      e.begun = true;
      lock.unlock();
      try {
        e.work();
      } catch (...) {
        e.error = std::current_exception();
      }
      lock.lock();
      e.done = true;
      changed_.notify_all();
      i = 0;  // others may have come or gone
    }
  }

  doorbell& bell_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<errand*> waiting_;
  std::thread::id server_{};
  atomic<std::uint32_t> count_{0};
};

}  // namespace rondo
