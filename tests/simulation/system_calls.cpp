// The system calls that return the time, or wait for it or for other threads, replaced for the whole process: see
// threads.cpp. A futex or an epoll file waits for other threads; the files themselves are real.
#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>

#include <cerrno>
#include <cstdarg>
#include <random>

#include "tests/simulation/real.hpp"
#include "tests/simulation/world.hpp"

using simulation::never;
using simulation::real_syscall;
using simulation::world;

namespace {

std::uint64_t in_ns(timespec const& t) {
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

int sleep_until(std::uint64_t at_ns) {
  auto& w = world::get();
  while (w.now_ns() < at_ns) w.wait(&at_ns, at_ns, false, "nanosleep");
  return 0;
}

/// Futex calls of the standard library: std::future, and waits on std::atomic.
long futex(std::uint32_t* word, int operation, std::uint32_t value, timespec const* limit) {
  auto& w = world::get();
  int const command = operation & FUTEX_CMD_MASK;
  if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) {
    w.point("futex wake");
    return w.wake(word, value);
  }
  if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET)
    w.fail("a futex call that the simulation does not know");
  w.point("futex wait");
  if (*word != value) return errno = EAGAIN, -1;
  std::uint64_t deadline = never;
  if (limit != nullptr) deadline = in_ns(*limit) + (command == FUTEX_WAIT ? w.now_ns() : 0);
  if (limit != nullptr && (operation & FUTEX_CLOCK_REALTIME) != 0) deadline -= simulation::realtime_offset_ns;
  if (w.wait(word, deadline, true, "futex wait")) return 0;
  return errno = ETIMEDOUT, -1;
}

}  // namespace

extern "C" {

long syscall(long number, ...) noexcept {
  std::va_list list;
  va_start(list, number);
  long a[6];
  for (long& x : a) x = va_arg(list, long);
  va_end(list);
  if (number == SYS_futex && world::active())
    return futex(reinterpret_cast<std::uint32_t*>(a[0]), static_cast<int>(a[1]),
                 static_cast<std::uint32_t>(a[2]), reinterpret_cast<timespec const*>(a[3]));
  return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int clock_gettime(clockid_t clock, timespec* t) noexcept {
  if (!world::active()) return static_cast<int>(real_syscall(SYS_clock_gettime, clock, t));
  if (clock != CLOCK_MONOTONIC &&
      clock != CLOCK_REALTIME) {  // how much a thread has run, which no seed determines
    *t = {};
    return 0;
  }
  auto& w = world::get();
  w.point("clock_gettime");
  auto const now = w.now_ns() + (clock == CLOCK_REALTIME ? simulation::realtime_offset_ns : 0);
  t->tv_sec = static_cast<time_t>(now / 1'000'000'000);
  t->tv_nsec = static_cast<long>(now % 1'000'000'000);
  return 0;
}

int nanosleep(timespec const* t, timespec* left) {
  if (!world::active()) return static_cast<int>(real_syscall(SYS_nanosleep, t, left));
  return sleep_until(world::get().now_ns() + in_ns(*t));
}
int clock_nanosleep(clockid_t clock, int flags, timespec const* t, timespec* left) {
  if (!world::active()) return static_cast<int>(real_syscall(SYS_clock_nanosleep, clock, flags, t, left));
  if ((flags & TIMER_ABSTIME) == 0) return sleep_until(world::get().now_ns() + in_ns(*t));
  return sleep_until(in_ns(*t) - (clock == CLOCK_REALTIME ? simulation::realtime_offset_ns : 0));
}

int epoll_wait(int file, epoll_event* events, int most, int timeout_ms) {
  if (!world::active()) return simulation::real_epoll_wait(file, events, most, timeout_ms);
  auto& w = world::get();
  auto const deadline =
      timeout_ms < 0 ? never : w.now_ns() + static_cast<std::uint64_t>(timeout_ms) * 1'000'000;
  for (;;) {
    w.point("epoll_wait");
    int const found = simulation::real_epoll_wait(file, events, most, 0);
    if (found != 0 || w.now_ns() >= deadline) return found;
    w.wait(&simulation::epoll_waiters, deadline, false, "epoll_wait");
  }
}
int epoll_ctl(int file, int operation, int of, epoll_event* event) noexcept {
  auto const result = static_cast<int>(real_syscall(SYS_epoll_ctl, file, operation, of, event));
  if (world::active()) {
    world::get().wake(&simulation::epoll_waiters, ~0u);
    world::get().point("epoll_ctl");
  }
  return result;
}

/// A timer is an event file that the world makes readable.
int timerfd_create(clockid_t, int) noexcept { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
int timerfd_settime(int file, int flags, itimerspec const* to, itimerspec*) noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] auto const drained = ::read(file, &count, sizeof count);
  auto& w = world::get();
  auto const value = in_ns(to->it_value);
  if (value == 0)
    w.forget_timer(file);
  else
    w.set_timer(file, value + ((flags & TFD_TIMER_ABSTIME) != 0 ? 0 : w.now_ns()));
  w.point("timerfd_settime");
  return 0;
}
int close(int file) {
  if (world::active()) world::get().forget_timer(file);
  return static_cast<int>(real_syscall(SYS_close, file));
}
}

/// From libstdc++: the value of std::random_device.
std::random_device::result_type std::random_device::_M_getval() {
  return static_cast<result_type>(world::get().random().next());
}
