// Kills a process in the middle of writing a file, at a chosen byte.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

namespace rondo_test {

/// Limits the size of the files that a process writes. Beyond it, a process with tests/dies_at_limit.cpp dies.
inline void limit_files(pid_t process, rlim_t bytes) {
  rlimit most{};
  if (prlimit(process, RLIMIT_FSIZE, nullptr, &most) != 0) return;  // it has ended
  most.rlim_cur = bytes;
  prlimit(process, RLIMIT_FSIZE, &most, nullptr);
}

}  // namespace rondo_test
