#include "runtime/os/clock.hpp"

#include <chrono>
#include <mutex>

#include "kernels/base/clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace rondo {

namespace {

#if defined(__x86_64__)

bool counter_is_invariant() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x8000'0007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

struct sample {
  std::uint64_t ticks, ns;
};

/// Reads counter and clock at the same moment: the tightest of several tries.
sample read_both() noexcept {
  sample best{};
  std::uint64_t best_width = ~0ull;
  for (int i = 0; i < 64; ++i) {
    auto const before = __rdtsc();
    auto const ns = detail::monotonic_ns();
    auto const after = __rdtsc();
    if (after - before < best_width) best_width = after - before, best = {before + (after - before) / 2, ns};
  }
  return best;
}

void measure() noexcept {
  if (!counter_is_invariant()) return;
  auto const first = read_both();
  while (detail::monotonic_ns() - first.ns < 10'000'000) {
  }
  auto const last = read_both();
  auto const ns = static_cast<detail::uint128>(last.ns - first.ns) << 32;
  detail::counter = {last.ticks, last.ns, static_cast<std::uint64_t>(ns / (last.ticks - first.ticks))};
}

#else

void measure() noexcept {}

#endif

}  // namespace

void calibrate_clock() {
  static std::once_flag once;
  std::call_once(once, measure);
}

std::uint64_t unix_offset_ns() {
  std::chrono::nanoseconds const since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(since_1970.count()) - now_ns();
}

}  // namespace rondo
