#include "bench/harness/distance.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

#include "bench/harness/backoff.hpp"

namespace rondo::bench {

double cache_line_round_trip_ns(cpu_pair cpus) {
  constexpr std::uint32_t bursts = 10, trips = 1000;
  alignas(64) std::atomic<std::uint32_t> ball{0};  // odd: in the partner's court

  std::thread partner([&] {
    pin_to(cpus[1]);
    for (std::uint32_t next = 1; next < 2 * bursts * trips; next += 2) {
      for (backoff wait; ball.load(std::memory_order_acquire) != next;) wait.pause();
      ball.store(next + 1, std::memory_order_release);
    }
  });

  double best_ns = std::numeric_limits<double>::max();
  std::thread server([&] {
    pin_to(cpus[0]);
    std::uint32_t value = 0;
    for (std::uint32_t burst = 0; burst < bursts; ++burst) {
      auto const start = std::chrono::steady_clock::now();
      for (std::uint32_t trip = 0; trip < trips; ++trip) {
        ball.store(++value, std::memory_order_release);
        ++value;
        for (backoff wait; ball.load(std::memory_order_acquire) != value;) wait.pause();
      }
      std::chrono::duration<double, std::nano> const took = std::chrono::steady_clock::now() - start;
      // The shortest burst: preemption and the partner's start can only make a burst longer.
      best_ns = std::min(best_ns, took.count() / trips);
    }
  });
  server.join();
  partner.join();
  return best_ns;
}

}  // namespace rondo::bench
