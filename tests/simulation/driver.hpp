// Runs many seeds, each in a separate process, and shortens a plan that fails.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/plan.hpp"

namespace simulation {

/// The command line.
struct command {
  bool many = false;
  std::uint64_t seed = 1, seeds = 100;  // the only seed, or the first of many
  double seconds = 0;                   // no new seeds are started after this time; 0: no limit
  std::uint32_t jobs = 2;               // processes at once
  std::optional<std::vector<std::uint32_t>> operations;  // run only these
  std::vector<std::string> left_out;                     // kinds of fault to leave out
  std::uint64_t other_schedule = 0;  // another schedule for the same plan; 0: the seed's own
  std::uint32_t every = 0;           // a calmer schedule; 0: the seed's own
  planted_bug bug;
  bool shows_trace = true, shows_switches = false, shows_plan = false;
  bool shortens = true;
};

/// Prints the reason and returns false if the arguments are invalid.
bool parse(int argc, char** argv, command& c);
/// Changes the plan as the command requires.
void apply(command const& c, plan& p);
/// The arguments that repeat `c`.
std::vector<std::string> arguments_of(command const& c);
/// Runs one plan in this process, on one core, and ends the process; the status is 0 if nothing was found.
[[noreturn]] void run_one(command const& c);
/// Returns 0 if nothing was found; otherwise prints the failure and returns 1. Call it before the process has a second
/// thread.
int run_many(command const& c);

}  // namespace simulation
