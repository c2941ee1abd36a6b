// Which pinned actor owns which team, where the teams are there from the start and the host chooses.
//
// Threads: any.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "kernels/base/message.hpp"

namespace rondo {

class team_owners {
 public:
  explicit team_owners(std::uint32_t teams) : owners_(teams) {}

  /// The number of a team without an actor, now this one's; none when all have one.
  std::optional<std::uint32_t> take(actor_id actor) {
    std::lock_guard lock(mutex_);
    for (std::uint32_t t = 0; t < owners_.size(); ++t)
      if (!owners_[t].valid()) return owners_[t] = actor, t;
    return std::nullopt;
  }
  /// The actor has ended; it may have owned none.
  void give_back(actor_id actor) {
    std::lock_guard lock(mutex_);
    for (auto& owner : owners_)
      if (owner == actor) owner = {};
  }

 private:
  std::mutex mutex_;
  std::vector<actor_id> owners_;  // by team; invalid: none
};

}  // namespace rondo
