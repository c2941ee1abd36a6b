// A queue between threads: `pop` waits for an item, or for the end.
//
// Threads: any. Unbounded; what flows through it is bounded elsewhere, by the number of frame buffers.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace rondo::tools {

template <class T>
class blocking_queue {
 public:
  void push(T item) {
    {
      std::lock_guard lock(mutex_);
      items_.push_back(std::move(item));
    }
    changed_.notify_one();
  }
  /// The oldest item; none once the queue is closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }
  void close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace rondo::tools
