#include "runtime/os/prepare_thread.hpp"

#include <pthread.h>
#include <sched.h>

namespace rondo {

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

}  // namespace rondo
