// A lock that one process holds on a file, through a separate lock file next to it.
//
// The system releases it when the process exits for any reason, even if forked children remain. Whether the lock file
// exists means nothing: it is removed at a clean end, and stays after any other. The lock works among the processes of
// one machine. Threads: one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "runtime/os/closed_on_fork.hpp"

namespace rondo {

class file_lock {
 public:
  /// Locks `<guarded>.lock`, which is created if it is missing. Throws std::system_error if that cannot be opened, and
  /// std::runtime_error with the process that holds it.
  explicit file_lock(std::filesystem::path const& guarded);
  /// Removes the lock file. A forked child's copy leaves it.
  ~file_lock();
  file_lock(file_lock const&) = delete;
  file_lock& operator=(file_lock const&) = delete;

 private:
  std::string name_;
  made_here made_here_;
  std::optional<unforked_fd> file_;
};

}  // namespace rondo
