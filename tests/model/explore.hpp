// Runs a scenario repeatedly and reports the result.
#pragma once

#include <cstdio>
#include <optional>

#include "tests/model/execution.hpp"

namespace model {

/// One situation in a protocol, and the invariant that must hold in it.
struct scenario {
  std::string name;
  std::string holds;  // the invariant, in words
  scenario_function function;
  /// Bounds within which all executions are searched; absent: only random search.
  std::optional<bounds> all_within{};
  /// Smaller bounds for CI; a bound of zero switches or stale reads keeps its number.
  std::optional<bounds> all_within_in_ci{};
};

struct findings {
  std::uint64_t executions = 0, steps = 0;
  std::uint64_t discarded = 0;  // executions that turned out to be impossible
  double seconds = 0;
  bool exhausted = false;     // nothing is left to try
  std::string failure;        // empty: none
  std::string how_to_repeat;  // arguments
};

/// Runs until a failure, or until `choices` is exhausted. Prints progress to `progress` (a terminal) unless it is null.
findings explore(scenario const& s, strategy& choices, session& with, std::FILE* progress = nullptr);

}  // namespace model
