// The blocking functions of pthread, replaced for the whole process: a program's own definitions take precedence over
// those of its libraries. Their state lies in the objects that they are given. Zeroed objects, which the static
// initializers create, are unlocked. Before the simulation begins there is one thread, and nothing is locked.
#include <pthread.h>
#include <sched.h>

#include <cerrno>

#include "tests/simulation/real.hpp"
#include "tests/simulation/world.hpp"

using simulation::never;
using simulation::world;

namespace {

void point(char const* what) {
  if (world::active()) world::get().point(what);
}
void wake(void const* on, std::uint32_t count) {
  if (world::active()) world::get().wake(on, count);
}
/// Waits; a single thread would wait for itself, which fails the run.
void wait(void const* on, char const* what) { world::get().wait(on, never, false, what); }

int& held(pthread_mutex_t* m) { return m->__data.__lock; }

void lock(pthread_mutex_t* m) {
  while (held(m) != 0) wait(m, "pthread_mutex_lock");
  held(m) = 1;
}
void unlock(pthread_mutex_t* m) {
  held(m) = 0;
  wake(m, 1);
}

/// The contents of a pthread_cond_t in this program.
struct condition {
  clockid_t clock;  // of timedwait; 0 is CLOCK_REALTIME
};
condition& of(pthread_cond_t* c) { return *reinterpret_cast<condition*>(c); }

int wait_until(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, timespec const* at) {
  std::uint64_t deadline = never;
  if (at != nullptr) {
    deadline =
        static_cast<std::uint64_t>(at->tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(at->tv_nsec);
    if (clock == CLOCK_REALTIME) deadline -= simulation::realtime_offset_ns;
  }
  point("pthread_cond_wait");
  unlock(m);
  bool const woken = world::get().wait(c, deadline, true, "pthread_cond_wait");
  lock(m);
  return woken ? 0 : ETIMEDOUT;
}

}  // namespace

extern "C" {

int pthread_create(pthread_t* handle, pthread_attr_t const* attributes, void* (*body)(void*),
                   void* argument) {
  return world::active() ? world::get().create(handle, attributes, body, argument)
                         : simulation::real_pthread_create(handle, attributes, body, argument);
}
int pthread_join(pthread_t handle, void** result) {
  return world::active() ? world::get().join(handle, result) : simulation::real_pthread_join(handle, result);
}
int pthread_setname_np(pthread_t, char const* name) {
  if (world::active()) world::get().name_this(name);
  return 0;
}
int sched_yield() noexcept {
  if (world::active()) world::get().spin(true, "sched_yield");
  return 0;
}

int pthread_mutex_lock(pthread_mutex_t* m) noexcept {
  point("pthread_mutex_lock");
  lock(m);
  return 0;
}
int pthread_mutex_trylock(pthread_mutex_t* m) noexcept {
  point("pthread_mutex_trylock");
  if (held(m) != 0) return EBUSY;
  held(m) = 1;
  return 0;
}
int pthread_mutex_unlock(pthread_mutex_t* m) noexcept {
  unlock(m);
  point("pthread_mutex_unlock");
  return 0;
}

int pthread_cond_init(pthread_cond_t* c, pthread_condattr_t const* attributes) noexcept {
  of(c).clock = CLOCK_REALTIME;
  if (attributes != nullptr) pthread_condattr_getclock(attributes, &of(c).clock);
  return 0;
}
int pthread_cond_destroy(pthread_cond_t*) noexcept { return 0; }
int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  return wait_until(c, m, CLOCK_MONOTONIC, nullptr);
}
int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, timespec const* at) {
  return wait_until(c, m, of(c).clock, at);
}
int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, timespec const* at) {
  return wait_until(c, m, clock, at);
}
int pthread_cond_signal(pthread_cond_t* c) noexcept {
  point("pthread_cond_signal");
  wake(c, 1);
  return 0;
}
int pthread_cond_broadcast(pthread_cond_t* c) noexcept {
  point("pthread_cond_broadcast");
  wake(c, ~0u);
  return 0;
}

int pthread_rwlock_rdlock(pthread_rwlock_t* l) noexcept {
  point("pthread_rwlock_rdlock");
  while (l->__data.__cur_writer != 0) wait(l, "pthread_rwlock_rdlock");
  ++l->__data.__readers;
  return 0;
}
int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) noexcept {
  point("pthread_rwlock_tryrdlock");
  if (l->__data.__cur_writer != 0) return EBUSY;
  ++l->__data.__readers;
  return 0;
}
int pthread_rwlock_wrlock(pthread_rwlock_t* l) noexcept {
  point("pthread_rwlock_wrlock");
  while (l->__data.__cur_writer != 0 || l->__data.__readers != 0) wait(l, "pthread_rwlock_wrlock");
  l->__data.__cur_writer = 1;
  return 0;
}
int pthread_rwlock_unlock(pthread_rwlock_t* l) noexcept {
  if (l->__data.__cur_writer != 0)
    l->__data.__cur_writer = 0;
  else
    --l->__data.__readers;
  wake(l, ~0u);
  point("pthread_rwlock_unlock");
  return 0;
}

/// 0: not called yet, 1: in progress, 2: done; like the system's.
int pthread_once(pthread_once_t* once, void (*work)()) {
  point("pthread_once");
  while (*once == 1) wait(once, "pthread_once");
  if (*once == 2) return 0;
  *once = 1;
  try {
    work();
  } catch (...) {
    *once = 0;
    wake(once, ~0u);
    throw;
  }
  *once = 2;
  wake(once, ~0u);
  return 0;
}
}
