// A minimal replacement of kernels/base/atomic.hpp: the compiler's builtins on plain words.
#pragma once

#include <atomic>
#include <type_traits>

namespace rondo {

using std::memory_order;
enum class scope { device, system };

template <class T, scope = scope::device>
class atomic {
 public:
  atomic() = default;
  explicit atomic(T value) noexcept : value_(value) {}

  T load_own() const noexcept { return value_; }
  T load(memory_order o) const noexcept { return __atomic_load_n(&value_, int(o)); }
  void store(T v, memory_order o) noexcept { __atomic_store_n(&value_, v, int(o)); }
  T exchange(T v, memory_order o) noexcept { return __atomic_exchange_n(&value_, v, int(o)); }
  T fetch_add(T v, memory_order o) noexcept { return __atomic_fetch_add(&value_, v, int(o)); }
  T fetch_sub(T v, memory_order o) noexcept { return __atomic_fetch_sub(&value_, v, int(o)); }
  T fetch_or(T v, memory_order o) noexcept { return __atomic_fetch_or(&value_, v, int(o)); }
  T fetch_and(T v, memory_order o) noexcept { return __atomic_fetch_and(&value_, v, int(o)); }
  bool compare_exchange(T& expected, T desired, memory_order success, memory_order failure) noexcept {
    return __atomic_compare_exchange_n(&value_, &expected, desired, false, int(success), int(failure));
  }
  void add_single_writer(T v) noexcept {
    store(static_cast<T>(load(memory_order::relaxed) + v), memory_order::relaxed);
  }

 private:
  alignas(sizeof(T)) T value_;
};

inline void atomic_fence(memory_order o) noexcept { __atomic_thread_fence(int(o)); }

namespace detail {
inline constexpr bool fences_cost_trips = false;
}

}  // namespace rondo
