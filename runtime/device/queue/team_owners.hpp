// The assignment of pinned actors to teams, for devices whose teams exist from the start.
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

  /// Assigns a free team to the actor and returns the team's number; nullopt if none is free.
  std::optional<std::uint32_t> take(actor_id actor) {
    std::lock_guard lock(mutex_);
    for (std::uint32_t t = 0; t < owners_.size(); ++t)
      if (!owners_[t].valid()) return owners_[t] = actor, t;
    return std::nullopt;
  }
  /// Frees the team of a terminated actor, if it had one.
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
