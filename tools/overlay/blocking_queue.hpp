// A queue between threads: `pop` waits for an item, or for `close`.
//
// `reserve` allocates once, and nothing allocates after that: the number of frame buffers bounds what is in the queue.
// Threads: any; `reserve` alone.
#pragma once

#include <cassert>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace rondo::tools {

template <class T>
class blocking_queue {
 public:
  /// Makes room for this many items. Precondition: the queue is empty.
  void reserve(std::size_t items) { items_.resize(items); }

  /// Precondition: there is room.
  void push(T item) {
    std::lock_guard lock(mutex_);
    assert(count_ < items_.size());
    items_[(first_ + count_++) % items_.size()] = std::move(item);
    changed_.notify_one();  // under the lock: the thread that takes the last item may destroy the queue
  }
  /// The oldest item; none once the queue is closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || count_ != 0; });
    if (count_ == 0) return std::nullopt;
    std::optional<T> item(std::move(items_[first_]));
    first_ = (first_ + 1) % items_.size();
    --count_;
    return item;
  }
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> items_;  // a ring
  std::size_t first_ = 0, count_ = 0;
  bool closed_ = false;
};

}  // namespace rondo::tools
