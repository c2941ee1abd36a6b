// A temporary directory for one test, removed with the object.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace rondo_test {

struct scratch_directory {
  std::filesystem::path directory;

  /// One per process and name; removes files that an earlier test left there. A forked child leaves its parent's.
  explicit scratch_directory(std::string const& name)
      : directory(std::filesystem::temp_directory_path() /
                  ("rondo-" + name + "-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(directory);
    std::filesystem::create_directory(directory);
  }
  ~scratch_directory() {
    if (::getpid() != owner_) return;
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }
  scratch_directory(scratch_directory const&) = delete;
  scratch_directory& operator=(scratch_directory const&) = delete;

 private:
  pid_t owner_ = ::getpid();
};

}  // namespace rondo_test
