// A lock that one process holds as long as it lives: on a file of its own beside the one that is guarded.
//
// It goes with the process, however that ends, also when it leaves forked children behind; the file stays, and means nothing by
// itself. It holds among the processes of one machine. Threads: one.
#pragma once

#include <filesystem>
#include <optional>

#include "runtime/os/closed_on_fork.hpp"

namespace rondo {

class file_lock {
 public:
  /// Locks `<guarded>.lock`, which is made where it is missing. Throws std::runtime_error which says who holds it already, or
  /// why the file cannot be opened.
  explicit file_lock(std::filesystem::path const& guarded);
  ~file_lock();
  file_lock(file_lock const&) = delete;
  file_lock& operator=(file_lock const&) = delete;

 private:
  int file_ = -1;
  std::optional<closed_on_fork> guard_;
};

}  // namespace rondo
