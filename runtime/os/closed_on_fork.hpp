// Descriptors that forked children close. Otherwise, as long as any child runs, a lock would stay held, a socket would
// accept connections that no process serves, and a peer would not see that this process has ended.
//
// O_CLOEXEC does the same at exec; this is for children that do not call exec. **Threads**: any.
#pragma once

#include <optional>
#include <utility>

#include "runtime/os/made_here.hpp"
#include "runtime/os/owned_fd.hpp"

namespace rondo {

/// A guard of a descriptor that somebody else owns.
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

/// An owned descriptor that forked children close.
class unforked_fd {
 public:
  explicit unforked_fd(owned_fd fd) : fd_(std::move(fd)), guard_(std::in_place, fd_.get()) {}
  /// Closes it where it was opened. In a child its number may be another file's by now.
  ~unforked_fd() {
    guard_.reset();
    if (!made_here_) static_cast<void>(fd_.release());
  }
  unforked_fd(unforked_fd const&) = delete;
  unforked_fd& operator=(unforked_fd const&) = delete;

  int get() const noexcept { return fd_.get(); }

 private:
  made_here made_here_;
  owned_fd fd_;
  std::optional<closed_on_fork> guard_;
};

}  // namespace rondo
