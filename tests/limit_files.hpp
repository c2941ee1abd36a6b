// Kills a process in the middle of writing a file, at a chosen byte.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

namespace rondo_test {

/// Limits the size of the files that a process writes: beyond it the system kills the process with SIGXFSZ, without a core
/// dump, unless the process ignores this signal.
inline void limit_files(pid_t process, rlim_t bytes) {
  rlimit most{}, none{};
  if (prlimit(process, RLIMIT_FSIZE, nullptr, &most) != 0) return;  // it has ended
  prlimit(process, RLIMIT_CORE, nullptr, &none);
  most.rlim_cur = bytes;
  none.rlim_cur = 0;
  prlimit(process, RLIMIT_CORE, &none, nullptr);
  prlimit(process, RLIMIT_FSIZE, &most, nullptr);
}

}  // namespace rondo_test
