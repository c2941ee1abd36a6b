// Says which actors checkpoints leave out: the actors of graphs, which have checkpoints of their own.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rondo::service {

/// Logs them when they have changed, not at every checkpoint. Threads: one at a time.
class left_out_log {
 public:
  explicit left_out_log(std::function<void(std::string const&)> log) : log_(std::move(log)) {}

  /// `names`: what rondo::checkpoint has returned.
  void take(std::vector<std::string> names) {
    if (names == logged_) return;
    logged_ = std::move(names);
    if (!logged_.empty())
      log_(fmt::format("checkpoints leave out the actors of graphs: {}", fmt::join(logged_, ", ")));
  }

 private:
  std::function<void(std::string const&)> log_;
  std::vector<std::string> logged_;
};

}  // namespace rondo::service
