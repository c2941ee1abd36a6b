// The two processors that a bench run is confined to, and how a thread is pinned to one of them.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>

namespace rondo::bench {

/// Every thread of a sample runs on these two; their distance is what the probe measures.
using cpu_pair = std::array<int, 2>;

/// Restricts the calling thread, and the threads it starts from now on, to `cpus`.
/// Throws std::runtime_error if the system refuses one of them.
template <class Cpus>
void confine_to(Cpus const& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string names;
  for (int cpu : cpus) {
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    names += ' ' + std::to_string(cpu);
  }
  if (int const error = pthread_setaffinity_np(pthread_self(), sizeof set, &set); error != 0)
    throw std::runtime_error("cannot run on processor" + names +
                             ": pass --cpus with two that `taskset -p $$` allows");
}

/// Lets the calling thread, and the threads it starts from now on, run on every processor again.
inline void run_anywhere() {
  cpu_set_t set;
  std::memset(&set, ~0, sizeof set);
  sched_setaffinity(0, sizeof set, &set);
}

/// Pins the calling thread to one processor.
inline void pin_to(int cpu) { confine_to(std::array<int, 1>{cpu}); }

/// The first two processors this process may use; throws if there is only one.
inline cpu_pair first_two_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  cpu_pair found{};
  std::size_t count = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && count < found.size(); ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) found[count++] = cpu;
  if (count < found.size())
    throw std::runtime_error("the benches need two processors, this process may use one");
  return found;
}

}  // namespace rondo::bench
