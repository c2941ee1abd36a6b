#include "runtime/os/made_here.hpp"

#include <pthread.h>

namespace rondo {

namespace {

/// A list without a mutex: a thread of the parent may have held that at the fork.
struct kept {
  std::shared_ptr<void const> object;
  kept* next;
};
constinit std::atomic<kept*> all_kept{nullptr};

}  // namespace

made_here::made_here() noexcept {
  [[maybe_unused]] static int const counts_forks = ::pthread_atfork(nullptr, nullptr, [] {
    forks_.fetch_add(1, std::memory_order_relaxed);
  });                                                      // relaxed: the child has only this thread
  forks_before_ = forks_.load(std::memory_order_relaxed);  // relaxed: as above
}

void keep_for_ever(std::shared_ptr<void const> object) {
  // Relaxed: nobody reads what is kept.
  auto* const one = new kept{std::move(object), all_kept.load(std::memory_order_relaxed)};
  while (!all_kept.compare_exchange_weak(one->next, one, std::memory_order_relaxed))
    ;
}

}  // namespace rondo
