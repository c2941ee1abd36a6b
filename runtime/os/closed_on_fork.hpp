// A guard that closes a descriptor in forked children. Otherwise, as long as any child runs, a lock would stay held, and a socket
// would accept connections that no process serves.
//
// O_CLOEXEC does the same at exec; this is for children that do not call exec. **Threads**: any.
#pragma once

namespace rondo {

class closed_on_fork {
 public:
  /// Children forked during this object's lifetime close `fd`. Destroy the object before this process closes `fd`.
  explicit closed_on_fork(int fd);
  ~closed_on_fork();
  closed_on_fork(closed_on_fork const&) = delete;
  closed_on_fork& operator=(closed_on_fork const&) = delete;

 private:
  int fd_;
};

}  // namespace rondo
