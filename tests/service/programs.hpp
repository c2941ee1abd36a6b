// Runs other programs in tests.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "tests/scratch_directory.hpp"

namespace service_test {

inline std::string text_of(std::string const& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The output of `command`, standard output and error, and its exit status.
inline std::pair<int, std::string> run(std::string const& command) {
  rondo_test::scratch_directory const scratch("run");
  auto const log = (scratch.directory / "log").string();
  int const status = std::system((command + " >" + log + " 2>&1").c_str());
  return {status, text_of(log)};
}

}  // namespace service_test
