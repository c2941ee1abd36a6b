// Work of a service that takes long, on two threads of its own: reads (list, watch, traces), one at a time, and control
// (checkpoints).
//
// Readers cannot keep an operator waiting: control does not queue behind reads, and no read begins while control has
// work. Operators' reads come first, and peers take turns, one read each. A connection has at most one read here. Reads
// of closed connections are dropped when their turn comes, and `stop_reading` drops all that wait.
//
// Threads: any. Construction and destruction from one.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "runtime/os/start_thread.hpp"
#include "runtime/service/net/quotas.hpp"

namespace rondo::service {

class slow_work {
 public:
  /// Answers one client.
  class reader {
   public:
    virtual ~reader() = default;
    /// The client has gone, so nobody wants the answer.
    virtual bool has_gone() const = 0;
    /// Does the work and answers. Does not throw.
    virtual void run() = 0;
    /// Answers that the service stops.
    virtual void refuse() = 0;
  };

  slow_work();
  /// Calls `end`.
  ~slow_work();
  slow_work(slow_work const&) = delete;
  slow_work& operator=(slow_work const&) = delete;

  void read(quota_peer const& of, std::unique_ptr<reader> r);
  /// Does `work`, which does not throw, after earlier control.
  void control(std::function<void()> work);
  /// While this object lives, no read begins.
  class reads_wait {
   public:
    explicit reads_wait(slow_work& all) : all_(all) { all_.hold(1); }
    ~reads_wait() { all_.hold(-1); }
    reads_wait(reads_wait const&) = delete;
    reads_wait& operator=(reads_wait const&) = delete;

   private:
    slow_work& all_;
  };
  /// Refuses the reads that wait, and later ones. One that runs ends as usual.
  void stop_reading();
  /// Refuses the reads that wait, does the control that waits, and waits for both threads. Idempotent.
  void end();
  /// The reads that wait.
  std::size_t waiting() const;
  /// Counts reads and beginnings of work: a result whose making began at `turn()` is right for all reads before that.
  std::uint64_t turn() noexcept { return turns_.fetch_add(1, std::memory_order_relaxed); }

 private:
  struct queue {
    quota_peer of;
    std::deque<std::unique_ptr<reader>> reads;
  };
  using queues = std::list<queue>;  // in the order of their turns

  void hold(int more);
  void run();
  std::unique_ptr<reader> next();

  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  queues operators_, clients_;
  int held_ = 0;  // control that waits or runs
  bool refuses_ = false, ends_ = false;
  std::atomic<std::uint64_t> turns_{1};
  boost::asio::thread_pool control_ =
      started("checkpoints of a service", [] { return boost::asio::thread_pool(1); });
  std::thread reads_;  // last: it uses what is above
};

}  // namespace rondo::service
