// Variables of this process, and so of those that it starts, for a while.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rondo_test {

class variables {
 public:
  explicit variables(std::vector<std::pair<std::string, std::string>> const& wanted) {
    for (auto const& [name, value] : wanted) {
      auto const* const old = std::getenv(name.c_str());
      before_.emplace_back(name, old != nullptr ? std::optional<std::string>(old) : std::nullopt);
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~variables() {
    for (auto const& [name, value] : before_)
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }
  variables(variables const&) = delete;
  variables& operator=(variables const&) = delete;

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

/// Loads a library into processes that begin meanwhile. AddressSanitizer, where it is in use, then is not the first
/// one.
inline std::vector<std::pair<std::string, std::string>> preloading(std::string const& library) {
  return {{"LD_PRELOAD", library}, {"ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0"}};
}

}  // namespace rondo_test
