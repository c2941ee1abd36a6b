#include "runtime/os/own_threads.hpp"

#include <pthread.h>

namespace rondo {

own_threads::own_threads() noexcept {
  [[maybe_unused]] static int const counts_forks = ::pthread_atfork(nullptr, nullptr, [] {
    forks_.fetch_add(1, std::memory_order_relaxed);
  });                                                      // relaxed: the child has only this thread
  forks_before_ = forks_.load(std::memory_order_relaxed);  // relaxed: as above
}

}  // namespace rondo
