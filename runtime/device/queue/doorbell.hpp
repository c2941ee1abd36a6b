// A doorbell, with which one thread sleeps until others have work for it.
//
// Threads: `ring` from any, `sleep` from one thread.
// Ordering: `wake`: the ringer's seq_cst fence between publishing work and its load of `asleep_` pairs with
// the sleeper's fence between setting `asleep_` and its last look for work. At least one of the two sees the other
// (the store-buffer pattern, which acquire and release cannot order), so no wake-up is lost. A late ring, for work that
// was already found, causes one needless wake-up.
#pragma once

#include "kernels/base/clock.hpp"
#include "kernels/base/park.hpp"

namespace rondo {

class doorbell {
 public:
  /// Costs only a fence if the thread is awake. The caller publishes its work first.
  void ring() noexcept {
    atomic_fence(memory_order::seq_cst);  // the edge `wake`
    // Relaxed: the fence orders it; the exchange lets only one of many ringers make the system call.
    if (asleep_.load(memory_order::relaxed) == 0 || asleep_.exchange(0, memory_order::relaxed) == 0) return;
    wake_word(asleep_, 1);
  }

  /// Sleeps until a ring or for `limit_ns`, unless `work_is_there()` is true. May return early.
  template <class WorkIsThere>
  void sleep(WorkIsThere work_is_there, std::uint64_t limit_ns) noexcept {
    asleep_.store(1, memory_order::relaxed);  // relaxed: the fence orders it
    atomic_fence(memory_order::seq_cst);      // the edge `wake`
    if (!work_is_there()) wait_word(asleep_, 1, limit_ns);
    asleep_.store(0, memory_order::relaxed);
  }

 private:
  alignas(64) atomic<std::uint32_t> asleep_{0};  // 1: a ring is needed
};

/// The backoff of an idle thread: it spins, then yields, then sleeps.
class idle_thread {
 public:
  /// `longest_sleep_ns`: it then looks again, even without a ring.
  idle_thread(std::uint64_t spin_ns, bool may_sleep, std::uint64_t longest_sleep_ns = 1'000'000'000) noexcept
      : spin_ns_(spin_ns), may_sleep_(may_sleep), longest_sleep_ns_(longest_sleep_ns) {}

  void worked() noexcept { since_ns_ = 0; }

  /// One step of waiting. `can_sleep` false: work is in transit that will not ring.
  template <class WorkIsThere>
  void wait(doorbell& bell, bool can_sleep, WorkIsThere work_is_there) noexcept {
    auto const now = now_ns();
    if (since_ns_ == 0) since_ns_ = now;
    auto const idle = now - since_ns_;
    if (may_sleep_ && can_sleep && idle > spin_ns_) return bell.sleep(work_is_there, longest_sleep_ns_);
    for (int i = 0; i < 16; ++i) relax();
    if (idle > 2'000) yield_thread();  // with pauses alone, a thread woken on this core would wait
  }

 private:
  std::uint64_t spin_ns_;
  bool may_sleep_;
  std::uint64_t longest_sleep_ns_;
  std::uint64_t since_ns_ = 0;
};

}  // namespace rondo
