// A temporary directory for one test, removed with the object.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace rondo_test {

struct scratch_directory {
  std::filesystem::path directory;

  /// One per process and name; removes files that an earlier test left there.
  explicit scratch_directory(std::string const& name)
      : directory(std::filesystem::temp_directory_path() /
                  ("rondo-" + name + "-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(directory);
    std::filesystem::create_directory(directory);
  }
  ~scratch_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }
  scratch_directory(scratch_directory const&) = delete;
  scratch_directory& operator=(scratch_directory const&) = delete;
};

}  // namespace rondo_test
