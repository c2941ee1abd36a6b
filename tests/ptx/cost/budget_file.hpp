// The budget: for each case, the most steps of each kind that its critical path may have. Counts, not nanoseconds: they
// do not depend on what a step is assumed to cost.
//
// A line is `case kind limit`; `#` begins a comment.
#pragma once

#include "tests/ptx/cost/summary.hpp"

namespace ptx_cost {

class budget_file {
 public:
  /// Throws std::runtime_error with file, line and reason.
  explicit budget_file(std::string const& path);

  bool has(std::string_view name) const;
  /// What exceeds it, as lines for people. Throws std::runtime_error if it has no line for this case.
  std::vector<std::string> check(std::string_view name, summary const& s) const;
  /// Limits that are far above what this case needs.
  std::vector<std::string> slack(std::string_view name, summary const& s) const;

 private:
  struct limit {
    std::string name;
    step kind;
    double most;
  };
  std::string path_;
  std::vector<limit> limits_;
};

}  // namespace ptx_cost
