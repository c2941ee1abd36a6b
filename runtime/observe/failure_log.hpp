// The last failure of each living actor, kept for later inspection.
//
// Bounded by the number of actors: an actor takes memory only after a failure, until it is gone.
// Threads: any; one mutex. Not on the message path.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "runtime/observe/telemetry.hpp"

namespace rondo {

class failure_log {
 public:
  void note(actor_id actor, actor_failure const& what) {
    std::lock_guard lock(mutex_);
    last_[actor.index] = {actor.generation, what};
  }
  /// To be called when the actor is gone.
  void forget(actor_id actor) {
    std::lock_guard lock(mutex_);
    auto const at = last_.find(actor.index);
    if (at != last_.end() && at->second.generation == actor.generation) last_.erase(at);
  }
  std::optional<actor_failure> find(actor_id actor) const {
    std::lock_guard lock(mutex_);
    auto const at = last_.find(actor.index);
    if (at == last_.end() || at->second.generation != actor.generation) return std::nullopt;
    return at->second.what;
  }

 private:
  struct entry {
    std::uint32_t generation;
    actor_failure what;
  };
  mutable std::mutex mutex_;
  std::map<std::uint32_t, entry> last_;  // by actor_id::index
};

}  // namespace rondo
