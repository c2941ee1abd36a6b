// The lines that a test's code writes to stderr.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/catch.hpp"

namespace rondo_test {

/// What is written to stderr during its lifetime.
class caught_stderr {
 public:
  explicit caught_stderr(std::filesystem::path file) : file_(std::move(file)), before_(::dup(2)) {
    std::fflush(stderr);
    auto* const to = std::fopen(file_.c_str(), "w");
    REQUIRE(to != nullptr);
    ::dup2(::fileno(to), 2);
    std::fclose(to);
  }
  ~caught_stderr() {
    std::fflush(stderr);
    ::dup2(before_, 2);
    ::close(before_);
  }
  caught_stderr(caught_stderr const&) = delete;
  caught_stderr& operator=(caught_stderr const&) = delete;
  std::string text() const {
    std::fflush(stderr);
    std::stringstream all;
    all << std::ifstream(file_).rdbuf();
    return all.str();
  }

 private:
  std::filesystem::path file_;
  int before_;
};

}  // namespace rondo_test
