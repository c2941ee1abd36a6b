#include "runtime/os/closed_on_fork.hpp"

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <vector>

namespace rondo {

namespace {

struct registry {
  std::mutex mutex;
  std::vector<int> fds;
};

/// Never destroyed, because other statics may hold descriptors for longer.
registry& all() {
  static auto* const one = [] {
    auto* const made = new registry;
    ::pthread_atfork([] { all().mutex.lock(); }, [] { all().mutex.unlock(); },
                     [] {
                       for (int const fd : all().fds) ::close(fd);
                       all().fds.clear();
                       all().mutex.unlock();
                     });
    return made;
  }();
  return *one;
}

}  // namespace

closed_on_fork::closed_on_fork(int fd) : fd_(fd) {
  std::lock_guard const lock(all().mutex);
  all().fds.push_back(fd);
}

closed_on_fork::~closed_on_fork() {
  std::lock_guard const lock(all().mutex);
  std::erase(all().fds, fd_);
}

}  // namespace rondo
