// The assignment of pinned actors to teams, for devices whose teams exist from the start.
//
// Threads: any. `team_of` is on the path of each message.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "kernels/base/atomic.hpp"
#include "kernels/base/message.hpp"

namespace rondo {

class team_owners {
 public:
  /// `teams` that serve one actor each, on a device with `actors` cells from the index `first_actor` on.
  team_owners(std::uint32_t teams, std::uint32_t first_actor, std::uint32_t actors)
      : owners_(teams), first_actor_(first_actor), teams_by_cell_(teams != 0 ? actors : 0) {}

  /// Assigns a free team to the actor and returns the team's number; nullopt if none is free.
  std::optional<std::uint32_t> take(actor_id actor) {
    std::lock_guard lock(mutex_);
    for (std::uint32_t t = 0; t < owners_.size(); ++t) {
      if (owners_[t].load(memory_order::relaxed) != no_actor) continue;
      // Relaxed, here and below: a thread that sends to the actor has its id from this one, or finds another actor's.
      owners_[t].store(bits_of(actor), memory_order::relaxed);
      teams_by_cell_[actor.index - first_actor_].store(t + 1, memory_order::relaxed);
      return t;
    }
    return std::nullopt;
  }
  /// Frees the team of a terminated actor, if it had one.
  void give_back(actor_id actor) {
    std::lock_guard lock(mutex_);
    if (auto const t = team_of(actor)) owners_[*t].store(no_actor, memory_order::relaxed);
  }
  /// The team of the actor; nullopt: it has none of its own, or is gone.
  std::optional<std::uint32_t> team_of(actor_id actor) const noexcept {
    auto const cell = actor.index - first_actor_;
    if (cell >= teams_by_cell_.size()) return std::nullopt;
    auto const team = teams_by_cell_[cell].load(memory_order::relaxed);
    if (team == 0 || owners_[team - 1].load(memory_order::relaxed) != bits_of(actor)) return std::nullopt;
    return team - 1;
  }

 private:
  static constexpr std::uint64_t no_actor = 0;  // generations begin with 1

  static std::uint64_t bits_of(actor_id actor) noexcept {
    return std::uint64_t{actor.generation} << 32 | actor.index;
  }

  std::mutex mutex_;                           // of changes
  std::vector<atomic<std::uint64_t>> owners_;  // by team
  std::uint32_t first_actor_;
  // The team that the cell's last pinned actor had, plus one; 0: none.
  std::vector<atomic<std::uint32_t>> teams_by_cell_;
};

}  // namespace rondo
