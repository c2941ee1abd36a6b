// Sizes and the loop, shared by the memory cases of Rondo and of bare CUDA.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "bench/harness/bench_case.hpp"

namespace rondo::bench::gpu {

inline constexpr std::uint64_t acquired_bytes = 64 << 10, copied_bytes = 32 << 20;

/// Calls `step(i)` until the budget is used, and records the duration of each call; the first eighth is warm-up.
template <class Step>
measurement repeated(sample_budget const& budget, std::string const& metric, Step&& step) {
  using clock = std::chrono::steady_clock;
  measurement m;
  auto& times = m[metric];
  auto const begin = clock::now();
  for (std::uint64_t i = 0;; ++i) {
    auto const start = clock::now();
    if (start - begin > budget.time) return m;
    step(i);
    auto const end = clock::now();
    if (start - begin > budget.time / 8)
      times.push_back(std::chrono::duration<double, std::nano>(end - start).count());
  }
}

}  // namespace rondo::bench::gpu
