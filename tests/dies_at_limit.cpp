// A library for processes that a test kills in the middle of writing, at a chosen byte: the system's write, but beyond
// the process's limit on the size of files it writes what there is room for, and kills the process. Otherwise the
// process would get an error.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" ssize_t write(int fd, void const* bytes, size_t count) {
  rlimit limit{};
  struct stat about {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && fstat(fd, &about) == 0 &&
      S_ISREG(about.st_mode)) {
    auto const at = static_cast<rlim_t>(lseek(fd, 0, SEEK_CUR));
    if (at + count > limit.rlim_cur) {
      if (at < limit.rlim_cur) static_cast<void>(syscall(SYS_write, fd, bytes, limit.rlim_cur - at));
      kill(getpid(), SIGKILL);
    }
  }
  return syscall(SYS_write, fd, bytes, count);
}
