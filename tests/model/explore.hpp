// Runs a scenario again and again, and says what it found.
#pragma once

#include <cstdio>
#include <optional>

#include "tests/model/execution.hpp"

namespace model {

/// One protocol situation and what must hold in it.
struct scenario {
  std::string name;
  std::string holds;  // the invariant, in words
  scenario_function function;
  /// Small enough for every execution within these bounds; absent: random search alone.
  std::optional<bounds> all_within{};
  /// Fewer of them in CI: a bound of zero switches or stale reads keeps its number.
  std::optional<bounds> all_within_in_ci{};
};

struct findings {
  std::uint64_t executions = 0, steps = 0;
  std::uint64_t discarded = 0;  // of them; could not happen
  double seconds = 0;
  bool exhausted = false;     // nothing was left to try
  std::string failure;        // empty: none
  std::string how_to_repeat;  // arguments
};

/// Runs until a failure, or until `choices` has nothing left. Prints progress to `progress` (a terminal), if not null.
findings explore(scenario const& s, strategy& choices, session& with, std::FILE* progress = nullptr);

}  // namespace model
