// Adapters that give every packaged multi-producer queue the same bounded interface: push some, pop some.
#pragma once

#include <concurrentqueue/concurrentqueue.h>

#include <boost/lockfree/queue.hpp>
#include <cstddef>
#include <deque>
#include <mutex>

#include "bench/peers/raw_queues.hpp"

namespace rondo::bench {

inline constexpr std::size_t queue_slots = 8192;

/// `batch` is the maximum number of messages per push or pop. A producer belongs to one thread; push returns false if
/// the queue is full, and then takes nothing. pop, called by the one consumer, returns how many messages it wrote to
/// `into`.
class boost_lockfree_queue {
 public:
  static constexpr auto name = "boost::lockfree::queue";
  static constexpr std::size_t batch = 1;
  struct producer {
    explicit producer(boost_lockfree_queue& queue) : queue_(queue.queue_) {}
    bool push(payload const* from) { return queue_.push(*from); }
    boost::lockfree::queue<payload, boost::lockfree::capacity<queue_slots>>& queue_;
  };
  std::size_t pop(payload* into) { return queue_.pop(*into) ? 1 : 0; }

 private:
  boost::lockfree::queue<payload, boost::lockfree::capacity<queue_slots>> queue_;
};

template <std::size_t Batch>
class moodycamel_queue {
 public:
  static constexpr auto name = Batch == 1 ? "moodycamel" : "moodycamel bulk";
  static constexpr std::size_t batch = Batch;
  // The queue grows without bound. Its bounded try_ functions were seen to fail forever on an empty queue, so the
  // producer checks the size once in 32 messages.
  struct producer {
    explicit producer(moodycamel_queue& queue) : queue_(queue.queue_), token_(queue.queue_) {}
    bool push(payload const* from) {
      if (until_look_ == 0) {
        if (queue_.size_approx() > queue_slots) return false;
        until_look_ = 32;
      }
      until_look_ -= Batch;
      if constexpr (Batch == 1) return queue_.enqueue(token_, *from);
      return queue_.enqueue_bulk(token_, from, Batch);
    }
    moodycamel::ConcurrentQueue<payload>& queue_;
    moodycamel::ProducerToken token_;
    std::size_t until_look_ = 0;
  };
  std::size_t pop(payload* into) {
    if constexpr (Batch == 1) return queue_.try_dequeue(consumer_, *into) ? 1 : 0;
    return queue_.try_dequeue_bulk(consumer_, into, Batch);
  }

 private:
  moodycamel::ConcurrentQueue<payload> queue_{queue_slots, 4, 0};
  moodycamel::ConsumerToken consumer_{queue_};
};

/// A queue written without a library.
class mutex_deque {
 public:
  static constexpr auto name = "mutex + deque";
  static constexpr std::size_t batch = 1;
  struct producer {
    explicit producer(mutex_deque& queue) : queue_(queue) {}
    bool push(payload const* from) {
      std::lock_guard const lock(queue_.mutex_);
      if (queue_.items_.size() == queue_slots) return false;
      queue_.items_.push_back(*from);
      return true;
    }
    mutex_deque& queue_;
  };
  std::size_t pop(payload* into) {
    std::lock_guard const lock(mutex_);
    if (items_.empty()) return 0;
    *into = items_.front();
    items_.pop_front();
    return 1;
  }

 private:
  std::mutex mutex_;
  std::deque<payload> items_;
};

}  // namespace rondo::bench
