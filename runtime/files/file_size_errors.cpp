#include "runtime/files/file_size_errors.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <ctime>

namespace rondo {

namespace {

sigset_t only_the_signal() noexcept {
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, SIGXFSZ);
  return one;
}

}  // namespace

// The system sends it to the thread that writes, so other threads neither get it nor need to block it.
file_size_errors::file_size_errors() noexcept {
  sigset_t pending;
  ::sigpending(&pending);
  was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
  auto const one = only_the_signal();
  ::pthread_sigmask(SIG_BLOCK, &one, &before_);
}

file_size_errors::~file_size_errors() {
  int const error = errno;
  auto const one = only_the_signal();
  timespec const at_once{};
  if (!was_pending_)
    while (::sigtimedwait(&one, nullptr, &at_once) == -1 && errno == EINTR)
      ;
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

std::string file_size_advice(int error) {
  if (error != EFBIG) return {};
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) return "; this is more than the file system allows";
  return fmt::format("; files of this process may have {} bytes: raise that limit (ulimit -f, LimitFSIZE=)",
                     limit.rlim_cur);
}

}  // namespace rondo
