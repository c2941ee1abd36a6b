// The system's own functions, which the simulation replaces.
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace simulation {

/// The next definition of `name` after this program's own, looked up on first use. No static local with a guard:
/// threads that wait for their turn call this, and would wait for the guard inside the simulation.
template <class Function>
class real_function {
 public:
  constexpr explicit real_function(char const* name) noexcept : name_(name) {}
  template <class... Args>
  auto operator()(Args... args) noexcept {
    auto* f = found_.load(std::memory_order_relaxed);  // relaxed: every thread finds the same
    if (f == nullptr) {
      f = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name_));
      found_.store(f, std::memory_order_relaxed);
    }
    return f(args...);
  }

 private:
  char const* name_;
  std::atomic<Function*> found_{nullptr};
};

inline constinit real_function<long(long, ...)> real_syscall{"syscall"};
inline constinit real_function<int(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*)>
    real_pthread_create{"pthread_create"};
inline constinit real_function<int(pthread_t, void**)> real_pthread_join{"pthread_join"};
inline constinit real_function<int(int, epoll_event*, int, int)> real_epoll_wait{"epoll_wait"};

/// From the monotonic clock to the time of day.
inline constexpr std::uint64_t realtime_offset_ns = 1'700'000'000'000'000'000u;

/// The address on which threads in epoll_wait wait, for all files: there are few of them.
inline char epoll_waiters = 0;

inline void make_readable(int eventfd) noexcept {
  std::uint64_t const one = 1;
  [[maybe_unused]] auto const written = ::write(eventfd, &one, sizeof one);
}

}  // namespace simulation
