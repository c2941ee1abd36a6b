// One urgent message sent to an actor that is working through many ordinary ones of 1 us each.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "bench/harness/sampling.hpp"

namespace rondo::bench {

/// The actor under test calls the two handle functions; the sample's thread calls run. The backlog is sent first and
/// the actor has started on it, so this detects a mailbox that considers priorities only when it fetches a batch.
class urgent_race {
 public:
  static constexpr std::uint64_t usual_backlog = 20'000;
  static constexpr std::uint64_t head_start = 100;
  explicit urgent_race(std::uint64_t backlog = usual_backlog) : backlog_(backlog) {}
  static std::vector<std::pair<std::string, std::string>> parameters(std::uint64_t backlog = usual_backlog) {
    return {{"backlog", std::to_string(backlog)}, {"work_us", "1"}};
  }

  void handle_ordinary() {
    auto const until = clock::now() + std::chrono::microseconds(1);
    while (clock::now() < until) {
    }
    handled_.fetch_add(1, std::memory_order_release);
  }

  void handle_urgent() {
    urgent_at_ = clock::now();
    handled_before_urgent_ = handled_.load(std::memory_order_relaxed);  // this actor wrote it
    urgent_done_.store(true, std::memory_order_release);
  }

  /// Headline: "ordinary_handled_first", the ordinary messages handled after the urgent one was accepted and before it
  /// was handled. 0 or 1 is the best possible: the message being handled at that moment may count.
  template <class SendOrdinary, class SendUrgent>
  measurement run(sample_budget const& budget, SendOrdinary&& send_ordinary, SendUrgent&& send_urgent) {
    measurement m;
    auto const end = clock::now() + budget.time;
    do {
      handled_.store(0, std::memory_order_relaxed);
      urgent_done_.store(false, std::memory_order_relaxed);
      // Sent while the actor works: its first fetches take what is already there.
      for (std::uint64_t i = 0; i < backlog_; ++i) send_ordinary(i);
      wait_until("the actor to begin",
                 [&] { return handled_.load(std::memory_order_acquire) >= head_start; });
      auto const sent_at = clock::now();
      send_urgent();
      std::uint64_t const handled_by_then = handled_.load(std::memory_order_acquire);
      wait_until("the urgent message", [&] { return urgent_done_.load(std::memory_order_acquire); });
      wait_until("the backlog", [&] { return handled_.load(std::memory_order_acquire) >= backlog_; });
      if (handled_by_then > backlog_ / 2)
        continue;  // this process was preempted: no backlog was left to overtake
      m["ordinary_handled_first"].push_back(
          static_cast<double>(handled_before_urgent_ - std::min(handled_by_then, handled_before_urgent_)));
      m["urgent_latency_ns"].push_back(
          std::chrono::duration<double, std::nano>(urgent_at_ - sent_at).count());
    } while (clock::now() < end || m.metrics.empty());
    return m;
  }

 private:
  using clock = std::chrono::steady_clock;
  std::uint64_t const backlog_;
  std::atomic<std::uint64_t> handled_{0};
  std::atomic<bool> urgent_done_{false};
  std::uint64_t handled_before_urgent_ = 0;
  clock::time_point urgent_at_;
};

}  // namespace rondo::bench
