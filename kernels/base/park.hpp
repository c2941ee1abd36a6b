// Primitives for waiting: a pause in a spin loop, yielding to another thread, and blocking on a 32-bit word, on Linux
// with a futex (park_futex.hpp), elsewhere with a table of waiting threads (park_lot.hpp). Only host threads block; a
// GPU backs off instead.
//
// A model checker may replace these functions by defining RONDO_PARK_HEADER to a header of its own.
#pragma once

#include "kernels/base/atomic.hpp"

namespace rondo {

/// Whether idle threads sleep, so that senders wake them. On a GPU they poll: to wake them would cost each sender a
/// fence, and save nothing.
#if defined(__CUDA_ARCH__)
inline constexpr bool threads_park = false;
#else
inline constexpr bool threads_park = true;
#endif

}  // namespace rondo

#if defined(RONDO_PARK_HEADER)
#include RONDO_PARK_HEADER
#else

#if !defined(__CUDA_ARCH__)
#include <sched.h>
#if RONDO_LINUX
#include "kernels/base/park_futex.hpp"
#else
#include "kernels/base/park_lot.hpp"
#endif
#endif

namespace rondo {

#if !defined(__CUDA_ARCH__)
namespace detail {
#if RONDO_LINUX
using system_park = futex_park;
#else
using system_park = parking_lot;
#endif
}  // namespace detail
#endif

/// Tells the processor that this is a spin loop.
RONDO_HD inline void relax() noexcept {
#if defined(__CUDA_ARCH__)
  __nanosleep(20);
#elif defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();  // <immintrin.h> would add 47,000 lines to every source
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Lets another thread of this core run.
RONDO_HD inline void yield_thread() noexcept {
#if defined(__CUDA_ARCH__)
  __nanosleep(200);
#else
  sched_yield();
#endif
}

/// Blocks while `word` holds `seen`, until it is woken or `limit_ns` has passed. May return early: the caller
/// checks the word again.
RONDO_HD inline void wait_word([[maybe_unused]] atomic<std::uint32_t>& word,
                               [[maybe_unused]] std::uint32_t seen,
                               [[maybe_unused]] std::uint64_t limit_ns) noexcept {
#if defined(__CUDA_ARCH__)
  __nanosleep(1000);
#else
  detail::system_park::wait(word, seen, limit_ns);
#endif
}

/// Wakes up to `count` threads that wait on `word`. The caller changes the word first.
RONDO_HD inline void wake_word([[maybe_unused]] atomic<std::uint32_t>& word,
                               [[maybe_unused]] int count) noexcept {
#if !defined(__CUDA_ARCH__)
  detail::system_park::wake(word, count);
#endif
}

}  // namespace rondo

#endif  // RONDO_PARK_HEADER
