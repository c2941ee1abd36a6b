// Blocking on a 32-bit word with Linux's futex.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/atomic.hpp"

namespace rondo::detail {

/// As wait_word and wake_word (park.hpp).
struct futex_park {
  static void wait(atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t limit_ns) noexcept {
    timespec const limit{static_cast<time_t>(limit_ns / 1'000'000'000),
                         static_cast<long>(limit_ns % 1'000'000'000)};
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &limit, nullptr, 0);
  }
  static void wake(atomic<std::uint32_t>& word, int count) noexcept {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
  }
};

}  // namespace rondo::detail
