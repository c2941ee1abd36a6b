// A team: the threads that run one handler together. It is one CPU thread, several CPU threads (emulated), a warp, or a
// block.
//
// All lanes of a team call the same operations in the same order. They cost nothing in a team of one lane.
// Ordering: `sync` makes what any lane wrote before it visible to all lanes after it.
#pragma once

#include "kernels/base/park.hpp"
#include "kernels/base/team_hardware.hpp"

namespace rondo {

inline constexpr std::uint32_t max_lanes = 32;  // of a team of host threads; a block on a GPU may have more

// -- for the runtime
/// Memory that the lanes of one team share. On a GPU the hardware does most of this.
struct team_shared {
  alignas(64) atomic<std::uint32_t> arrived;
  alignas(64) atomic<std::uint32_t> phase;
  alignas(64) std::uint64_t values[max_lanes];
  std::uint64_t command[4];       // from lane 0 to the others; see lane_crew.hpp
  atomic<std::uint32_t> failure;  // errc that any lane reported during the current call
};

// -- for programs
/// One lane's view of its team.
class team {
 public:
  /// A team of one.
  RONDO_HD explicit team(std::uint32_t index) noexcept : index_(index) {}
  // -- for the runtime
  RONDO_HD team(std::uint32_t index, std::uint32_t lane, std::uint32_t lanes, team_shared& shared) noexcept
      : index_(index), lane_(lane), lanes_(lanes), shared_(&shared) {}
  /// A team of one that is a lane of this team, while each lane runs an actor of its own.
  RONDO_HD team beside_others() const noexcept { return team{index_ | (lane_ + 1) << place_shift}; }
  /// Of such a team: the number of the lane, from 1; otherwise 0.
  RONDO_HD std::uint32_t place() const noexcept { return index_ >> place_shift; }
  /// The lanes that take actors side by side: no more than a warp.
  RONDO_HD team first_lanes() const noexcept {
    return lanes_ <= max_lanes ? *this : team{index_, lane_, max_lanes, *shared_};
  }
  // -- for handlers

  /// The number of the team on its device.
  RONDO_HD std::uint32_t index() const noexcept { return index_ & ((1u << place_shift) - 1); }
  /// The number of this lane, from 0.
  RONDO_HD std::uint32_t lane() const noexcept { return lane_; }
  /// How many lanes the team has.
  RONDO_HD std::uint32_t lanes() const noexcept { return lanes_; }
  /// Whether this is lane 0.
  RONDO_HD bool leader() const noexcept { return lane_ == 0; }
  /// The memory that the lanes share; null in a team of one.
  RONDO_HD team_shared* shared() const noexcept { return shared_; }

  /// Waits until all lanes are here.
  RONDO_HD void sync() const noexcept {
    if (lanes_ == 1 || hardware::sync(lanes_)) return;
    auto const phase = shared_->phase.load(memory_order::relaxed);  // relaxed: cannot change before we arrive
    // acq_rel: each arrival publishes its lane's writes, and the last one has seen all.
    if (shared_->arrived.fetch_add(1, memory_order::acq_rel) + 1 == lanes_) {
      shared_->arrived.store(0, memory_order::relaxed);  // relaxed: published by the phase
      shared_->phase.store(phase + 1, memory_order::release);
      wake_word(shared_->phase, static_cast<int>(lanes_));
      return;
    }
    for (int spin = 0; shared_->phase.load(memory_order::acquire) == phase; ++spin)
      if (spin > 64) wait_word(shared_->phase, phase, 1'000'000'000);
  }

  /// The value of lane `from`, on all lanes. T has at most 8 bytes.
  template <class T>
  RONDO_HD T broadcast(T value, std::uint32_t from = 0) const noexcept {
    if (lanes_ == 1 || hardware::broadcast(value, from, lane_, lanes_, shared_->values)) return value;
    put(value);
    sync();
    T const result = get<T>(from);
    sync();
    return result;
  }

  /// op over the values of all lanes, in lane order, on all lanes.
  template <class T, class Op>
  RONDO_HD T reduce(T value, Op op) const noexcept {
    if (lanes_ == 1 || hardware::reduce(value, op, lane_, lanes_, shared_->values)) return value;
    put(value);
    sync();
    T result = get<T>(0);
    for (std::uint32_t l = 1; l < lanes_; ++l) result = op(result, get<T>(l));
    sync();
    return result;
  }
  /// Inclusive scan: op over the values of the lanes up to this one, in lane order.
  template <class T, class Op>
  RONDO_HD T scan(T value, Op op) const noexcept {
    if (lanes_ == 1 || hardware::scan(value, op, lane_, lanes_, shared_->values)) return value;
    put(value);
    sync();
    T result = get<T>(0);
    for (std::uint32_t l = 1; l <= lane_; ++l) result = op(result, get<T>(l));
    sync();
    return result;
  }
  /// The sum over all lanes, on all lanes.
  template <class T>
  RONDO_HD T sum(T value) const noexcept {
    return reduce(value, [](T a, T b) { return static_cast<T>(a + b); });
  }
  /// The bits that any lane has set, on all lanes.
  RONDO_HD std::uint32_t any_bits(std::uint32_t bits) const noexcept {
    if (lanes_ == 1 || hardware::any_bits(bits, lanes_)) return bits;
    return reduce(bits, [](std::uint32_t a, std::uint32_t b) { return a | b; });
  }
  /// Whether it is true on any lane, on all lanes.
  RONDO_HD bool any(bool value) const noexcept { return any_bits(value) != 0; }
  /// Whether it is true on each lane, on all lanes.
  RONDO_HD bool all(bool value) const noexcept { return !any(!value); }

 private:
  template <class T>
  RONDO_HD void put(T value) const noexcept {
    static_assert(sizeof(T) <= 8, "a team exchanges values of at most 8 bytes");
    __builtin_memcpy(&shared_->values[lane_], &value, sizeof value);
  }
  template <class T>
  RONDO_HD T get(std::uint32_t lane) const noexcept {
    T value;
    __builtin_memcpy(&value, &shared_->values[lane], sizeof value);
    return value;
  }

  static constexpr int place_shift =
      24;  // a lane's place is in the upper bits: a GPU would keep another word on its stack

  std::uint32_t index_ = 0, lane_ = 0, lanes_ = 1;
  team_shared* shared_ = nullptr;
};

/// This lane's share of the numbers 0 to n - 1: `for (auto i : lane_range{n, lane, lanes})`.
struct lane_range {
  /// Goes through this lane's numbers.
  struct iterator {
    std::uint32_t value;  // the number
    std::uint32_t step;   // from one to the next
    std::uint32_t end;    // behind the last
    /// The number.
    RONDO_HD std::uint32_t operator*() const noexcept { return value; }
    /// To the next number of this lane.
    RONDO_HD iterator& operator++() noexcept {
      value = end - value > step ? value + step : end;
      return *this;
    }
    /// Whether the numbers differ.
    RONDO_HD bool operator!=(iterator const& other) const noexcept { return value != other.value; }
  };
  std::uint32_t count;  // of all numbers
  std::uint32_t first;  // of this lane
  std::uint32_t step;   // from one of its numbers to the next
  /// The first number of this lane.
  RONDO_HD iterator begin() const noexcept { return {first < count ? first : count, step, count}; }
  /// Behind the last one.
  RONDO_HD iterator end() const noexcept { return {count, step, count}; }
};

}  // namespace rondo
