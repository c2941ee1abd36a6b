#include "runtime/device/team_threads.hpp"

#include <pthread.h>

namespace rondo {

void prepare_team_thread(std::string const& name, int core) {
  pthread_setname_np(pthread_self(), name.c_str());
  if (core < 0) return;
  auto const cores = std::thread::hardware_concurrency();
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core) % (cores == 0 ? 1 : cores), &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);  // a wish: containers may forbid it
}

}  // namespace rondo
