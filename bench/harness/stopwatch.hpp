// Wall and processor time of a timed region.
#pragma once

#include <sys/resource.h>

#include <chrono>

namespace rondo::bench {

/// cpu_ns counts user and system time of every thread of the process.
struct timing {
  double wall_ns = 0;
  double cpu_ns = 0;
};

inline double process_cpu_ns() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  auto const ns = [](timeval t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

/// Starts at construction.
class stopwatch {
 public:
  timing stop() const {
    std::chrono::duration<double, std::nano> const wall = std::chrono::steady_clock::now() - start_;
    return {wall.count(), process_cpu_ns() - cpu_start_ns_};
  }

 private:
  double cpu_start_ns_ = process_cpu_ns();
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace rondo::bench
