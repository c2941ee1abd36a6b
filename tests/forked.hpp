// Forked children in tests. The parent goes on with the exit status of its child.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

namespace rondo_test {

// ThreadSanitizer refuses threads of children. AddressSanitizer's allocator (g++ 12) does not hold its locks while a
// process forks: one that another thread had is never released in the child, which stands still when it allocates.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool children_have_threads = false;
#else
inline constexpr bool children_have_threads = true;
#endif

/// Runs `f` in a child, which exits with what it returns; by `exit`, with the destructors of statics, if `f` calls
/// that. A child that throws exits with 99. A child that hangs is killed by its alarm: 128 and the signal's number.
template <class F>
int exit_status_of_child(F f) {
  std::fflush(nullptr);  // or the child writes it, too
  auto const child = ::fork();
  if (child == 0) {
    ::alarm(60);
    try {
      ::_exit(f());
    } catch (std::exception const& e) {
      std::fprintf(stderr, "a forked child has thrown: %s\n", e.what());
      ::_exit(99);
    }
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) throw std::runtime_error("there is no child");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace rondo_test
