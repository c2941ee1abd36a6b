// The replayer collects the devices' reports during a replay (runtime/replay.hpp).
//
// Threads: `take` from any, `wait` from one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "kernels/link/device_event.hpp"

namespace rondo {

/// The outcome of a message.
struct replayed {
  bool handled = true;
  errc reason = errc::ok;
  std::uint32_t digest = 0;
};

class replayer {
 public:
  /// Precondition: the event's kind is handled or not_handled.
  void take(device_event const& r) {
    std::lock_guard lock(mutex_);
    ended_[r.actor.index].push_back({r.kind == event_kind::handled, r.reason, r.behaviour});
    came_.notify_one();
  }
  /// The outcome of the actor's next message; nullopt if it is not reported within `limit`.
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
