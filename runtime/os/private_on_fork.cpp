#include "runtime/os/private_on_fork.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cerrno>
#include <mutex>
#include <system_error>
#include <vector>

namespace rondo {

namespace {

struct mapping {
  std::byte* base;
  std::uint64_t bytes;
  int fd;
};

struct registry {
  std::mutex mutex;
  std::vector<mapping> mappings;
};

/// Replaces the mapping, in a child. Without memory for a copy (overcommit_memory is 2), the child can only read it.
void make_private(mapping const& m) noexcept {
  for (int const access : {PROT_READ | PROT_WRITE, PROT_READ})
    if (::mmap(m.base, m.bytes, access, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, m.fd, 0) != MAP_FAILED)
      return;
  ::mprotect(m.base, m.bytes, PROT_READ);
}

/// Never destroyed, because other statics may hold mappings for longer.
registry& all() {
  static auto* const one = [] {
    auto* const made = new registry;
    ::pthread_atfork([] { all().mutex.lock(); }, [] { all().mutex.unlock(); },
                     [] {
                       for (auto const& m : all().mappings) make_private(m);
                       all().mutex.unlock();
                     });
    return made;
  }();
  return *one;
}

}  // namespace

private_on_fork::private_on_fork(std::byte* base, std::uint64_t bytes, int fd)
    : base_(base), fd_(::fcntl(fd, F_DUPFD_CLOEXEC, 0)) {
  if (!fd_)
    throw std::system_error(errno, std::generic_category(),
                            "a descriptor for shared memory (raise `ulimit -n`)");
  std::lock_guard const lock(all().mutex);
  all().mappings.push_back({base, bytes, fd_.get()});
}

private_on_fork::~private_on_fork() {
  std::lock_guard const lock(all().mutex);
  std::erase_if(all().mappings, [this](mapping const& m) { return m.base == base_; });
}

}  // namespace rondo
