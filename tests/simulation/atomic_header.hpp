// Replaces kernels/base/atomic.hpp by plain values with a point before each access. Every access is sequentially
// consistent; weaker orders are tested elsewhere (tests/model).
#pragma once

#include <atomic>
#include <type_traits>

#include "tests/simulation/world.hpp"

namespace rondo {

using std::memory_order;

enum class scope { device, system };

template <class T, scope Scope = scope::device>
class atomic {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  using where = std::source_location;
  using world = simulation::world;

 public:
  atomic() = default;
  explicit atomic(T value) noexcept : value_(value) {}
  atomic(atomic const&) = delete;
  atomic& operator=(atomic const&) = delete;

  T load_own() const noexcept { return value_; }
  T load(memory_order, where const& at = where::current()) const noexcept {
    point("load", at);
    return value_;
  }
  void store(T value, memory_order, where const& at = where::current()) noexcept {
    point("store", at);
    set(value);
  }
  T exchange(T value, memory_order, where const& at = where::current()) noexcept {
    return change("exchange", at, [=](T) { return value; });
  }
  T fetch_add(T value, memory_order, where const& at = where::current()) noexcept {
    return change("fetch_add", at, [=](T old) { return static_cast<T>(old + value); });
  }
  T fetch_sub(T value, memory_order, where const& at = where::current()) noexcept {
    return change("fetch_sub", at, [=](T old) { return static_cast<T>(old - value); });
  }
  T fetch_or(T value, memory_order, where const& at = where::current()) noexcept {
    return change("fetch_or", at, [=](T old) { return static_cast<T>(old | value); });
  }
  T fetch_and(T value, memory_order, where const& at = where::current()) noexcept {
    return change("fetch_and", at, [=](T old) { return static_cast<T>(old & value); });
  }
  bool compare_exchange(T& expected, T desired, memory_order, memory_order,
                        where const& at = where::current()) noexcept {
    point("compare_exchange", at);
    if (value_ != expected) return expected = value_, false;
    if (is_split(at)) point("the gap in a split compare_exchange", at);
    set(desired);
    return true;
  }
  void add_single_writer(T value, where const& at = where::current()) noexcept {
    store(static_cast<T>(load(memory_order::relaxed, at) + value), memory_order::relaxed, at);
  }

 private:
  static void point(char const* what, where const& at) {
    if (world::active()) world::get().point(what, at);
  }
  static bool is_split(where const& at) { return world::active() && world::get().splits(at); }
  void set(T value) noexcept {
    if (value_ != value && world::active()) world::get().news();
    value_ = value;
  }
  template <class F>
  T change(char const* kind, where const& at, F f) noexcept {
    point(kind, at);
    T const old = value_;
    if (is_split(at)) point("the gap in a split access", at);
    set(f(old));
    return old;
  }

  alignas(sizeof(T)) mutable T value_;
};

static_assert(sizeof(atomic<std::uint32_t>) == 4 && sizeof(atomic<std::uint64_t>) == 8);

inline void atomic_fence(memory_order) noexcept {}

namespace detail {
inline constexpr bool fences_cost_trips = false;
}

}  // namespace rondo
