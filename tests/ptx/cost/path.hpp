// What happened on the way of a message through the warps of a grid: each warp keeps a log of its steps, and knows from
// which other warp's store it learned of the message. Followed backwards from the last store, that is the critical
// path.
//
// Which store a warp waited for. Stores and warps carry the number of the last message that they know of.
//  - A warp that loads a word with a newer message than its own has learned of that message from the store of that
//    word.
//  - A warp that has done nothing but load since it last loaded this word, by the same instruction, waits. If another
//    warp has stored there since, that store is what it waited for.
// Otherwise the warp was at work when the store came, and its own work is the path.
//
// A path has gaps: from a store until the warp that waits looks again.
//
// Threads: one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace ptx_cost {

enum class step : std::uint8_t {
  issue,          // a warp instruction
  pcie_trip,      // a wait for a load of host memory
  l2_trip,        // a wait for a load of device memory, or an atomic's result
  near_wait,      // a wait for L1, local or shared memory
  sleep,          // nanosleep, or a barrier
  fence_acquire,  // one that acquires, and releases nothing
  fence_cta,
  fence_gpu,
  fence_sys,
  // Events, which take no time by themselves.
  pcie_read,
  posted_write,
  byte_store,
  atomic,
  local_access,
  kinds
};
inline constexpr std::size_t step_kinds = static_cast<std::size_t>(step::kinds);
/// As budgets and tables name them.
inline constexpr std::array<char const*, step_kinds> step_names = {
    "instructions",   "pcie_trips",  "l2_trips",   "near_waits",    "sleeps",
    "fences_acquire", "fences_cta",  "fences_gpu", "fences_sys",    "pcie_reads",
    "posted_writes",  "byte_stores", "atomics",    "local_accesses"};

struct log_entry {
  std::uint64_t at_ps;
  std::uint32_t place;  // an index of module::places
  std::uint32_t ps;
  step kind;
  bool counts;  // false: the rest of a wait, for a load that was in flight together with one that counts
};

inline constexpr std::uint32_t the_host = ~0u;

/// A place in a warp's log.
struct mark {
  std::uint32_t warp = the_host;
  std::uint64_t index = 0;
};

struct path_step {
  log_entry what;
  std::uint32_t warp;
};

/// What was found on a path.
struct path_costs {
  std::vector<path_step> steps;  // without instructions and near waits, oldest first
  std::array<std::uint32_t, step_kinds> counts{};
  std::array<std::uint64_t, step_kinds> ps{};
  std::map<std::uint32_t, std::uint64_t> ps_by_place;
  std::uint64_t unseen_ps = 0;  // the gaps
  std::uint32_t warps = 0;      // a warp counts each time that the path comes to it
  std::uint32_t count(step s) const { return counts[static_cast<std::size_t>(s)]; }
};

class warp_log {
 public:
  void add(std::uint64_t at_ps, std::uint32_t place, step kind, std::uint64_t ps, bool counts = true) {
    entries_.push_back({at_ps, place, static_cast<std::uint32_t>(ps), kind, counts});
  }
  std::uint64_t end() const noexcept { return first_ + entries_.size(); }
  log_entry const& at(std::uint64_t index) const { return entries_.at(index - first_); }
  std::uint64_t first() const noexcept { return first_; }

  std::uint64_t message = 0;  // what this warp knows of
  /// The warp learns of a message from the store at `from`, `unseen_ps` after that.
  void learn(std::uint64_t of_store, mark from, std::uint64_t unseen_ps) {
    message = of_store;
    sources_.push_back({end(), from, unseen_ps});
  }
  struct source {
    std::uint64_t index;  // of this log: what follows was caused by
    mark from;
    std::uint64_t unseen_ps;
  };
  /// The last source before `index`; null: none.
  source const* source_before(std::uint64_t index) const {
    for (auto n = sources_.size(); n-- > 0;)
      if (sources_[n].index < index) return &sources_[n];
    return nullptr;
  }
  /// Forgets all entries so far.
  void forget() {
    first_ = end();
    entries_.clear();
    sources_.clear();
  }

 private:
  std::vector<log_entry> entries_;
  std::vector<source> sources_;
  std::uint64_t first_ = 0;
};

/// The path to `last`, backwards to the host's store, or to the time `since_ps`.
path_costs trace_path(std::vector<warp_log> const& logs, mark last, std::uint64_t since_ps = 0);

}  // namespace ptx_cost
