// A simulated memory in which a load may return any value that C++'s release/acquire rules allow, not only the newest
// one.
//
// Each location keeps all stores of an execution in modification order. A thread has a view: for each location the
// oldest store that it may still read. A release store carries its thread's view; a thread that acquires the store
// joins that view. A read-modify-write reads the newest store and continues its release sequence. Fences and
// sequentially consistent accesses follow C++20 ([atomics.order], [atomics.fences]); they use views in the manner of
// Kang et al., "A promising semantics for relaxed-memory concurrency" (2017), without promises.
//
// Plain accesses have no history: two that conflict and are not ordered by happens-before are an error (vector clocks,
// a word of four bytes at a time).
//
// A store may be late: up to three later accesses of its thread to other locations overtake it, unless one of them
// releases, or the store is a read-modify-write that acquires. Stores therefore enter the modification order out of
// program order, and a load may return a value that is stored "later" (load buffering). A late read-modify-write
// continues with the value that it found, and the execution counts only if that value is still the newest when it takes
// effect. Stores that are delayed further are not simulated. Consume is not used.
//
// Threads: none; the scheduler (execution.hpp) runs one fiber at a time and calls in here.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/model/site.hpp"

namespace model {

inline constexpr int max_threads = 8;  // 0 sets up the scenario; its accesses happen before all others
inline constexpr std::size_t max_locations = 512;

/// The stores that a thread has seen, or that a released store carries.
struct view {
  std::array<std::uint16_t, max_locations> seen{};  // by location: the oldest store that may still be read
  std::array<std::uint32_t, max_threads> clock{};   // happens-before, for plain accesses

  void join_seen(view const& other, std::size_t locations) noexcept;
  void join(view const& other, std::size_t locations) noexcept;
};

struct location;

/// A store that has not taken effect yet.
struct late_store {
  location* where = nullptr;  // null: there is none
  void* at = nullptr;
  unsigned bytes = 0;
  std::uint64_t value = 0;
  memory_order order = memory_order::relaxed;
  bool modifies = false;  // a read-modify-write
  view carried{};
  std::uint32_t accesses_left = 0;
};

struct thread_views {
  int id = 0;
  late_store late{};
  std::uint64_t stores = 0;  // of its own that have taken effect
  view now;                  // the stores it must see
  view acquired;             // what an acquire fence would add: the views of stores that relaxed loads read
  view released;             // its view at the last release fence; relaxed stores carry it
};

/// A data race, or a limit of the simulation.
using report_error = std::function<void(std::string const&)>;

struct write {
  std::uint64_t value;
  view* carried;  // null: the first value
};

/// The stores to one atomic, in modification order.
struct location {
  std::size_t index = 0;
  std::vector<write> writes;
  std::optional<std::uint64_t> awaited;  // the value that a late read-modify-write must still find
};

class memory {
 public:
  /// Chooses one of the `n` stores that a load may read; 0 is the newest.
  using choose_store = std::function<std::uint32_t(std::uint32_t n)>;
  /// Chooses how many later accesses overtake a store, below `n`.
  using choose_lateness = std::function<std::uint32_t(std::uint32_t n)>;
  /// The function that a read-modify-write applies to the value it read.
  using change = std::function<std::uint64_t(std::uint64_t)>;

  /// Forgets everything; locations then start with their values in real memory.
  void begin(choose_store store, choose_lateness lateness, report_error error);
  void begin_thread(thread_views& t, int id) const;
  /// Checks plain accesses to these bytes. Kept until `begin`.
  void watch(void const* first, std::size_t bytes);

  // Each also keeps the newest value in real memory. `bytes` is 4 or 8.
  std::uint64_t load(thread_views& t, void* at, unsigned bytes, memory_order order);
  void store(thread_views& t, void* at, unsigned bytes, std::uint64_t value, memory_order order);
  std::uint64_t read_modify_write(thread_views& t, void* at, unsigned bytes, memory_order order,
                                  change const& f);
  bool compare_exchange(thread_views& t, void* at, unsigned bytes, std::uint64_t& expected,
                        std::uint64_t desired, memory_order success, memory_order failure);
  void fence(thread_views& t, memory_order order);
  /// Lets a late store take effect; called before the thread waits or ends.
  void settle(thread_views& t);
  /// The value that a late read-modify-write found has been overwritten: this execution is impossible.
  bool is_impossible() const noexcept { return impossible_; }
  void plain(thread_views& t, void const* at, std::size_t bytes, bool writes, void const* pc);

  /// How many newer stores there were than the one that the last load returned.
  std::uint32_t last_staleness() const noexcept { return staleness_; }
  /// A small number for a location, in the order of first use; for traces.
  std::size_t number_of(void* at);
  /// The number of stores so far, by all threads.
  std::uint64_t stores() const noexcept { return stores_; }

 private:
  struct granule {
    std::uint64_t execution = 0;
    void const *write_pc = nullptr, *read_pc = nullptr;
    std::uint32_t write_clock = 0;
    int writer = 0;
    std::array<std::uint32_t, max_threads> read_clock{};
  };
  struct watched {
    std::uintptr_t first, end;
    std::vector<granule> granules;
  };

  location& find(void* at, unsigned bytes);
  view& new_view();
  void read(thread_views& t, location& l, std::size_t which, memory_order order);
  void append(thread_views& t, location& l, void* at, unsigned bytes, std::uint64_t value, memory_order order,
              view const* read_from);
  void take_effect(thread_views& t, location& l, void* at, unsigned bytes, std::uint64_t value,
                   memory_order order, view const& carried);
  void before_access(thread_views& t, void const* at, memory_order order);
  void after_access(thread_views& t);

  choose_store choose_;
  choose_lateness lateness_;
  report_error error_;
  std::unordered_map<void*, location*> by_address_;
  std::deque<location> locations_;  // reused by the next execution
  std::size_t used_locations_ = 0;
  std::deque<view> views_;
  std::size_t used_views_ = 0;
  view consistent_;  // of the sequentially consistent fences and accesses so far
  std::vector<watched> watched_;
  std::size_t used_watched_ = 0;
  std::uint64_t execution_ = 0, stores_ = 0;
  std::uint32_t staleness_ = 0;
  bool impossible_ = false;
};

/// "kernels/mail/priority_lists.hpp:61" for a return address; slow.
std::string source_of(void const* pc);

}  // namespace model
