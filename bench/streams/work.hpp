// What a run of the five-stage pipeline does, and what it measures.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdint>

namespace streams_bench {

/// What the stages do with a picture.
enum class load {
  pixels,     // draw, blur, and draw on it: all pixels
  transport,  // each reads and writes its first 8 bytes, so only the runtime, the copies and the bus take time
};

struct work {
  load of = load::pixels;
  std::int32_t width = 1920, height = 1080;
  std::uint64_t frames = 300;
  std::uint32_t teams = 2, replicas = 1, window = 4;
  float sigma = 2;
};

struct outcome {
  double seconds = 0, cpu_seconds = 0;
  std::uint64_t frames = 0, p50_latency_ns = 0;
  double copies_per_frame = 0;  // between devices, or at the edges of the threads
  double us_per_copy = 0;       // between devices
};

/// Processor time of this process, in seconds.
inline double cpu_now() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  auto const s = [](timeval t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return s(u.ru_utime) + s(u.ru_stime);
}

template <class F>
outcome timed(std::uint64_t frames, F const& f) {
  auto const begun = std::chrono::steady_clock::now();
  auto const cpu = cpu_now();
  f();
  outcome o;
  o.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  o.cpu_seconds = cpu_now() - cpu;
  o.frames = frames;
  return o;
}

}  // namespace streams_bench
