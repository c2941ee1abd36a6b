// Backoff for polling loops of benches: spins briefly, then yields, so that more threads than processors make progress.
#pragma once

#include <thread>

namespace rondo::bench {

class backoff {
 public:
  void pause() {
    if (++spins_ < spins_before_yield) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#endif
    } else {
      spins_ = 0;
      std::this_thread::yield();
    }
  }

 private:
  // Longer than any cache-line round trip, shorter than a time slice.
  static constexpr unsigned spins_before_yield = 256;
  unsigned spins_ = 0;
};

}  // namespace rondo::bench
