// Delays each wait for descriptors of the process into which it is loaded (LD_PRELOAD), as a busy machine may do: by
// WAIT_DELAY_MS before the wait begins. So whatever a wait is for has come, or has been cancelled, before it.
#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>

#include <cstdlib>

namespace {

void delay() {
  static char const* const text = std::getenv("WAIT_DELAY_MS");
  auto const ms = text == nullptr ? 0 : std::atol(text);
  timespec const pause{ms / 1000, ms % 1000 * 1'000'000};
  ::nanosleep(&pause, nullptr);
}

/// The function that this one stands before.
template <class F>
F* next(char const* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int poll(pollfd* of, nfds_t count, int limit_ms) {
  static auto* const real = next<int(pollfd*, nfds_t, int)>("poll");
  delay();
  return real(of, count, limit_ms);
}
int ppoll(pollfd* of, nfds_t count, timespec const* limit, sigset_t const* mask) {
  static auto* const real = next<int(pollfd*, nfds_t, timespec const*, sigset_t const*)>("ppoll");
  delay();
  return real(of, count, limit, mask);
}
int epoll_wait(int of, epoll_event* events, int most, int limit_ms) {
  static auto* const real = next<int(int, epoll_event*, int, int)>("epoll_wait");
  delay();
  return real(of, events, most, limit_ms);
}
int epoll_pwait(int of, epoll_event* events, int most, int limit_ms, sigset_t const* mask) {
  static auto* const real = next<int(int, epoll_event*, int, int, sigset_t const*)>("epoll_pwait");
  delay();
  return real(of, events, most, limit_ms, mask);
}
}
