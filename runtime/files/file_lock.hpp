// A lock that one process holds on a file, through a separate lock file next to it.
//
// The system releases it when the process exits for any reason, even if forked children remain. The lock file stays; its
// existence means nothing. The lock works among the processes of one machine. Threads: one.
#pragma once

#include <filesystem>
#include <optional>

#include "runtime/os/closed_on_fork.hpp"

namespace rondo {

class file_lock {
 public:
  /// Locks `<guarded>.lock`, which is created if it is missing. Throws std::runtime_error with the process that holds it, or
  /// why the file cannot be opened.
  explicit file_lock(std::filesystem::path const& guarded);

 private:
  std::optional<unforked_fd> file_;
};

}  // namespace rondo
