// Preloaded into a program, fails its thread number FAILING_THREAD, counted from 1, as if the system had no more.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

extern "C" int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*run)(void*),
                              void* with) {
  using create = int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
  static auto const next = reinterpret_cast<create>(dlsym(RTLD_NEXT, "pthread_create"));
  static std::atomic<int> made{0};
  char const* const fails = std::getenv("FAILING_THREAD");
  if (fails != nullptr && ++made == std::atoi(fails)) return EAGAIN;
  return next(thread, attributes, run, with);
}
