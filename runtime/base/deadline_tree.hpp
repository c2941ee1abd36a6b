// A tree of the nearest deadlines in a table of slots: it finds those that have passed without a look at all others.
//
// The table keeps each slot's own deadline. A word of the lowest level has the nearest one of `Fan` slots, or an
// earlier one of a slot that has ended; a word of another level has the nearest one of `Fan` words below it. The one
// word of the last level is the nearest of all.
//
// Threads: `lower` from any, `expire` from one at a time.
// Ordering, all seq_cst: `lower` comes after the store that opens the slot and goes up from it; `expire` resets a word
// before it looks at what is below. So of an opening and a look at the same time, one sees the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/base/atomic.hpp"

namespace rondo {

template <std::uint32_t Fan>
class deadline_tree_of {
 public:
  static constexpr std::uint64_t none = ~0ull;

  explicit deadline_tree_of(std::uint32_t slots) : slots_(slots) {
    for (auto count = slots; levels_.empty() || count > 1;) {
      count = std::max(1u, (count + Fan - 1) / Fan);
      levels_.emplace_back(count);
      for (auto& w : levels_.back()) w.store(none, memory_order::relaxed);  // no other thread yet
    }
  }

  /// The slot has this deadline. True if it is now the nearest of all.
  bool lower(std::uint32_t slot, std::uint64_t deadline) noexcept {
    for (auto& level : levels_) {
      slot /= Fan;
      if (!lower(level[slot], deadline)) return false;  // so are the words above
    }
    return true;
  }

  /// Calls `end(slot)` for slots under words that have passed; it ends the slot if its deadline has passed, and
  /// otherwise returns that, or `none`. Returns the nearest deadline that is left, or `none`.
  template <class End>
  std::uint64_t expire(std::uint64_t now, End const& end) {
    return look(levels_.size() - 1, 0, now, end);
  }

 private:
  using word = atomic<std::uint64_t>;

  static bool lower(word& w, std::uint64_t deadline) noexcept {
    for (;;) {
      auto nearest = w.load(memory_order::seq_cst);
      if (deadline >= nearest) return false;
      // Relaxed if it fails: it is loaded again.
      if (w.compare_exchange(nearest, deadline, memory_order::seq_cst, memory_order::relaxed)) return true;
    }
  }

  template <class End>
  std::uint64_t look(std::size_t level, std::uint32_t at, std::uint64_t now, End const& end) {
    auto& mine = levels_[level][at];
    if (auto const nearest = mine.load(memory_order::seq_cst); nearest > now) return nearest;
    mine.store(none, memory_order::seq_cst);
    auto const below = level == 0 ? slots_ : static_cast<std::uint32_t>(levels_[level - 1].size());
    auto nearest = none;
    for (auto i = at * Fan; i < std::min(below, (at + 1) * Fan); ++i)
      nearest = std::min(nearest, level == 0 ? end(i) : look(level - 1, i, now, end));
    lower(mine, nearest);
    return nearest;
  }

  std::uint32_t slots_;
  std::vector<std::vector<word>> levels_;
};
using deadline_tree = deadline_tree_of<64>;

}  // namespace rondo
