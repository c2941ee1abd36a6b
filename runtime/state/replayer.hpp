// Collects what devices report during a replay (runtime/replay.hpp).
//
// Threads: take from any, wait from one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "kernels/link/host_record.hpp"

namespace rondo {

/// How a message ended.
struct replayed {
  bool handled = true;
  errc reason = errc::ok;
  std::uint32_t digest = 0;
};

class replayer {
 public:
  /// A record of kind handled or not_handled.
  void take(host_record const& r) {
    std::lock_guard lock(mutex_);
    ended_[r.actor.index].push_back({r.kind == record_kind::handled, r.reason, r.behaviour});
    came_.notify_one();
  }
  /// How the actor's next message ended; none when that does not become known in time.
  std::optional<replayed> wait(actor_id actor, std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    auto& mine = ended_[actor.index];
    if (!came_.wait_for(lock, limit, [&] { return !mine.empty(); })) return std::nullopt;
    auto const first = mine.front();
    mine.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::map<std::uint32_t, std::deque<replayed>> ended_;  // by actor_id::index: generations follow each other
};

}  // namespace rondo
