#include "runtime/os/prepare_thread.hpp"

#include <pthread.h>

#include <thread>

#include "kernels/base/portable.hpp"

#if RONDO_LINUX
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#endif

namespace rondo {

#if RONDO_LINUX

void prepare_thread(std::string const& name, int core) {
  pthread_setname_np(pthread_self(), name.c_str());
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core), &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);  // best effort: containers may forbid it
}

std::vector<int> allowed_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;  // more than 1024 cores
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<unsigned>(core), &set)) cores.push_back(core);
  return cores;
}

thread_time thread_time::of_this_thread() noexcept {
  static_assert(CLOCK_REALTIME == 0);  // which is no thread's
  thread_time mine;
  if (clockid_t clock = 0; ::pthread_getcpuclockid(::pthread_self(), &clock) == 0) mine.clock_ = clock;
  return mine;
}

std::chrono::nanoseconds thread_time::run_time() const noexcept {
  timespec t{};
  if (clock_ == 0 || ::clock_gettime(clock_, &t) != 0) return {};
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

/// Unless a thread asks for less, its sleep ends up to 50 us late.
void sleep_punctually_until(std::chrono::steady_clock::time_point when) {
  ::prctl(PR_SET_TIMERSLACK, 1ul, 0, 0, 0);
  std::this_thread::sleep_until(when);
  ::prctl(PR_SET_TIMERSLACK, 0ul, 0, 0, 0);  // as it was at the thread's start
}

#else

void prepare_thread([[maybe_unused]] std::string const& name, int) {
#if defined(__APPLE__)
  pthread_setname_np(name.c_str());
#endif
}

std::vector<int> allowed_cores() { return {}; }

thread_time thread_time::of_this_thread() noexcept { return {}; }
std::chrono::nanoseconds thread_time::run_time() const noexcept { return std::chrono::nanoseconds(clock_); }

void sleep_punctually_until(std::chrono::steady_clock::time_point when) {
  std::this_thread::sleep_until(when);
}

#endif

}  // namespace rondo
