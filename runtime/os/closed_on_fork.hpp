// Descriptors that a forked child does not get: it would hold open what its parent alone serves. A lock would stay taken, and
// a socket would take connections that nobody answers, for as long as any child lives.
//
// O_CLOEXEC does the same at exec; this is for programs that fork and go on. **Threads**: any.
#pragma once

namespace rondo {

class closed_on_fork {
 public:
  /// From now on; until its end, which comes before the descriptor is closed here.
  explicit closed_on_fork(int fd);
  ~closed_on_fork();
  closed_on_fork(closed_on_fork const&) = delete;
  closed_on_fork& operator=(closed_on_fork const&) = delete;

 private:
  int fd_;
};

}  // namespace rondo
