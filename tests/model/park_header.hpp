// Replaces kernels/base/park.hpp: a thread that waits yields to another thread of the execution.
#pragma once

#include "tests/model/execution.hpp"

namespace rondo {

inline void relax() noexcept {
  if (auto* const x = model::execution::current()) x->spin();
}
inline void yield_thread() noexcept { relax(); }

/// Sleeps until it is woken, whatever the limit, unless the scenario lets time pass: a lost wake-up must be detected.
inline void wait_word(atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t limit_ns) noexcept {
  if (auto* const x = model::execution::current()) x->wait(&word, seen, limit_ns);
}
inline void wake_word(atomic<std::uint32_t>& word, int count) noexcept {
  if (auto* const x = model::execution::current()) x->wake(&word, count);
}

}  // namespace rondo
