// The atomic type behind every protocol of Rondo: a plain T whose every access names its memory order.
//
// `atomic<T>` is a plain T in memory: zeroed memory is a valid value, and an arena full of them can be copied
// to a file at a safepoint. It maps to std::atomic_ref on the host and to cuda::atomic_ref on a GPU, at
// device scope unless the protocol crosses the bus (`system`). There is no default order.
//
// A model checker may replace these types by defining RONDO_ATOMIC_HEADER to a header of its own.
#pragma once

#include "kernels/base/portable.hpp"

#if defined(RONDO_ATOMIC_HEADER)
#include RONDO_ATOMIC_HEADER
#else

#include <atomic>
#include <type_traits>

#if defined(__CUDACC__)
#include <cuda/atomic>
#endif

namespace rondo {

using std::memory_order;

/// Which threads may access an atomic concurrently: those of one device, or those of the device and its host.
enum class scope { device, system };

#if defined(__CUDA_ARCH__)
__device__ constexpr cuda::std::memory_order native_order(memory_order order) noexcept {
  return order == memory_order::relaxed   ? cuda::std::memory_order_relaxed
         : order == memory_order::acquire ? cuda::std::memory_order_acquire
         : order == memory_order::release ? cuda::std::memory_order_release
         : order == memory_order::acq_rel ? cuda::std::memory_order_acq_rel
                                          : cuda::std::memory_order_seq_cst;
}
#endif

template <class T, scope Scope = scope::device>
class atomic {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));

 public:
  atomic() = default;
  /// Holds `value`. A default-constructed one in zeroed memory holds zero.
  RONDO_HD explicit atomic(T value) noexcept : value_(value) {}
  atomic(atomic const&) = delete;
  atomic& operator=(atomic const&) = delete;

  /// The value.
  RONDO_HD T load(memory_order order) const noexcept { return ref().load(native(order)); }
  /// The same where no other thread may write it now. On a GPU, the L1 may have it.
  RONDO_HD T load_own() const noexcept { return value_; }
  /// Sets the value.
  RONDO_HD void store(T value, memory_order order) noexcept { ref().store(value, native(order)); }
  /// Sets the value and returns the one before.
  RONDO_HD T exchange(T value, memory_order order) noexcept { return ref().exchange(value, native(order)); }
  /// Adds and returns the value before.
  RONDO_HD T fetch_add(T value, memory_order order) noexcept { return ref().fetch_add(value, native(order)); }
  /// Subtracts and returns the value before.
  RONDO_HD T fetch_sub(T value, memory_order order) noexcept { return ref().fetch_sub(value, native(order)); }
  /// Sets these bits and returns the value before.
  RONDO_HD T fetch_or(T value, memory_order order) noexcept { return ref().fetch_or(value, native(order)); }
  /// Clears all other bits and returns the value before.
  RONDO_HD T fetch_and(T value, memory_order order) noexcept { return ref().fetch_and(value, native(order)); }

  /// On failure `expected` holds the value found. Does not fail spuriously.
  RONDO_HD bool compare_exchange(T& expected, T desired, memory_order success,
                                 memory_order failure) noexcept {
    return ref().compare_exchange_strong(expected, desired, native(with(success, failure)), native(failure));
  }

  /// Adds without a read-modify-write, which would be slower on a CPU. Precondition: the caller is the only writer.
  RONDO_HD void add_single_writer(T value) noexcept {
    // Relaxed: a statistic that others only read; the single writer orders its own accesses.
#if defined(__CUDA_ARCH__)
    if constexpr (Scope == scope::device)
      return (void)fetch_add(value, memory_order::relaxed);  // nobody waits for it
#endif
    store(load(memory_order::relaxed) + value, memory_order::relaxed);
  }

 private:
  /// g++ 12 rejects relaxed on success with acquire on failure, which C++17 allows. Acquire on both is harmless.
  RONDO_HD static constexpr memory_order with(memory_order success, memory_order failure) noexcept {
    return success == memory_order::relaxed ? failure : success;
  }

#if defined(__CUDA_ARCH__)
  static constexpr auto cuda_scope =
      Scope == scope::system ? cuda::thread_scope_system : cuda::thread_scope_device;
  __device__ static constexpr auto native(memory_order order) noexcept { return native_order(order); }
  __device__ auto ref() const noexcept { return cuda::atomic_ref<T, cuda_scope>(value_); }
#else
  RONDO_HD static constexpr memory_order native(memory_order order) noexcept { return order; }
  RONDO_HD auto ref() const noexcept { return std::atomic_ref<T>(value_); }
#endif

  alignas(sizeof(T)) mutable T value_;
};

static_assert(sizeof(atomic<std::uint32_t>) == 4 && sizeof(atomic<std::uint64_t>) == 8);
static_assert(std::is_trivially_default_constructible_v<atomic<std::uint64_t>>);

/// A fence among the threads of the device, or of the device and its host.
template <scope Scope = scope::device>
RONDO_HD inline void atomic_fence(memory_order order) noexcept {
#if defined(__CUDA_ARCH__)
  constexpr bool is_wide = Scope == scope::system;
#if __CUDA_ARCH__ >= 900 && CUDART_VERSION >= 12080
  // CUDA's own function makes both of these a fence.acq_rel. One that acquires alone waits for no store; one that
  // releases alone leaves the multiprocessor its L1.
  if (order == memory_order::acquire) {
    if constexpr (is_wide)
      asm volatile("fence.acquire.sys;" ::: "memory");
    else
      asm volatile("fence.acquire.gpu;" ::: "memory");
    return;
  }
  if (order == memory_order::release) {
    if constexpr (is_wide)
      asm volatile("fence.release.sys;" ::: "memory");
    else
      asm volatile("fence.release.gpu;" ::: "memory");
    return;
  }
#endif
  cuda::atomic_thread_fence(native_order(order),
                            is_wide ? cuda::thread_scope_system : cuda::thread_scope_device);
#else
  std::atomic_thread_fence(order);
#endif
}

namespace detail {
#if defined(__CUDA_ARCH__)
inline constexpr bool fences_cost_trips = true;
#else
inline constexpr bool fences_cost_trips = false;
#endif
}  // namespace detail

}  // namespace rondo

#endif  // RONDO_ATOMIC_HEADER

namespace rondo {

/// How many loads that do not depend on each other are best issued together. On a GPU, each takes as long as a hundred
/// instructions, and one that acquires waits for itself: several are relaxed, and followed by one fence.
inline constexpr std::uint32_t loads_at_once = detail::fences_cost_trips ? 16 : 1;

/// The order of a load that is repeated until it finds something; then acquire_found() must follow. On a GPU, an
/// acquire load would empty the multiprocessor's L1 each time.
inline constexpr memory_order polling =
    detail::fences_cost_trips ? memory_order::relaxed : memory_order::acquire;
/// After a load of the order `polling` has found something: what its writer did before is visible from here on.
RONDO_HD inline void acquire_found() noexcept {
  if constexpr (detail::fences_cost_trips) atomic_fence(memory_order::acquire);
}

/// Atomic access to a plain value, such as a behaviour's member that several tiles add to.
template <class T, scope Scope = scope::device>
RONDO_HD atomic<T, Scope>& as_atomic(T& plain) noexcept {
  return reinterpret_cast<atomic<T, Scope>&>(plain);  // atomic<T> holds a T and nothing else
}
/// The same to one that this thread only reads.
template <class T, scope Scope = scope::device>
RONDO_HD atomic<T, Scope> const& as_atomic(T const& plain) noexcept {
  return reinterpret_cast<atomic<T, Scope> const&>(plain);
}

}  // namespace rondo
