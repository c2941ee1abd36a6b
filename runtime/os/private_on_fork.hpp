// Shared memory that is private in forked children: there it is a copy, as all other memory of a process is after a
// fork. So what a child writes to its copies of buffers, tables and heartbeats reaches no other process.
//
// **Threads**: any.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/os/owned_fd.hpp"

namespace rondo {

class private_on_fork {
 public:
  /// In children forked during this object's lifetime, the mapping of the whole file `fd` at `base` is private. Uses a
  /// descriptor of its own. Throws std::system_error if there is none. Destroy the object before the mapping.
  private_on_fork(std::byte* base, std::uint64_t bytes, int fd);
  ~private_on_fork();
  private_on_fork(private_on_fork const&) = delete;
  private_on_fork& operator=(private_on_fork const&) = delete;

 private:
  std::byte* base_;
  owned_fd fd_;
};

}  // namespace rondo
