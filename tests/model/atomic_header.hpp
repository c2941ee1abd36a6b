// Replaces kernels/base/atomic.hpp: each access goes to the current execution, or directly to memory if there is none.
#pragma once

#include <atomic>
#include <bit>
#include <type_traits>

#include "tests/model/execution.hpp"

#define MODEL_UNWATCHED __attribute__((no_sanitize("thread")))

namespace rondo {

using std::memory_order;

enum class scope { device, system };

template <class T, scope Scope = scope::device>
class atomic {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  using where = std::source_location;
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

 public:
  atomic() = default;
  explicit atomic(T value) noexcept : value_(value) {}
  atomic(atomic const&) = delete;
  atomic& operator=(atomic const&) = delete;

  MODEL_UNWATCHED T load(memory_order order, where const& w = where::current()) const noexcept {
    auto* const x = model::execution::current();
    return x == nullptr ? value_ : from(x->load(&value_, sizeof(T), order, w));
  }
  T load_own(where const& w = where::current()) const noexcept { return load(memory_order::relaxed, w); }
  MODEL_UNWATCHED void store(T value, memory_order order, where const& w = where::current()) noexcept {
    if (auto* const x = model::execution::current())
      x->store(&value_, sizeof(T), to(value), order, w);
    else
      value_ = value;
  }
  T exchange(T value, memory_order order, where const& w = where::current()) noexcept {
    return modify("exchange", order, w, [=](T) { return value; });
  }
  T fetch_add(T value, memory_order order, where const& w = where::current()) noexcept {
    return modify("fetch_add", order, w, [=](T old) { return static_cast<T>(old + value); });
  }
  T fetch_sub(T value, memory_order order, where const& w = where::current()) noexcept {
    return modify("fetch_sub", order, w, [=](T old) { return static_cast<T>(old - value); });
  }
  T fetch_or(T value, memory_order order, where const& w = where::current()) noexcept {
    return modify("fetch_or", order, w, [=](T old) { return static_cast<T>(old | value); });
  }
  T fetch_and(T value, memory_order order, where const& w = where::current()) noexcept {
    return modify("fetch_and", order, w, [=](T old) { return static_cast<T>(old & value); });
  }
  MODEL_UNWATCHED bool compare_exchange(T& expected, T desired, memory_order success, memory_order failure,
                                        where const& w = where::current()) noexcept {
    if (auto* const x = model::execution::current()) {
      auto found = to(expected);
      bool const done = x->compare_exchange(&value_, sizeof(T), found, to(desired), success, failure, w);
      expected = from(found);
      return done;
    }
    bool const done = value_ == expected;
    (done ? value_ : expected) = done ? desired : value_;
    return done;
  }
  void add_single_writer(T value, where const& w = where::current()) noexcept {
    store(static_cast<T>(load(memory_order::relaxed, w) + value), memory_order::relaxed, w);
  }

 private:
  static std::uint64_t to(T value) noexcept { return std::bit_cast<bits>(value); }
  static T from(std::uint64_t value) noexcept { return std::bit_cast<T>(static_cast<bits>(value)); }

  template <class F>
  MODEL_UNWATCHED T modify(char const* kind, memory_order order, where const& w, F f) noexcept {
    if (auto* const x = model::execution::current())
      return from(x->read_modify_write(
          kind, &value_, sizeof(T), order, [f](std::uint64_t old) { return to(f(from(old))); }, w));
    T const old = value_;
    value_ = f(old);
    return old;
  }

  alignas(sizeof(T)) mutable T value_;
};

static_assert(sizeof(atomic<std::uint32_t>) == 4 && sizeof(atomic<std::uint64_t>) == 8);

inline void atomic_fence(memory_order order,
                         std::source_location const& w = std::source_location::current()) noexcept {
  if (auto* const x = model::execution::current()) x->fence(order, w);
}

namespace detail {
inline constexpr bool fences_cost_trips = true;  // as on a GPU: it has the weaker accesses
}

}  // namespace rondo
