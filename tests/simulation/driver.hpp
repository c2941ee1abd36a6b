// Runs many seeds, each in a process of its own, and makes a plan that fails shorter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/plan.hpp"

namespace simulation {

/// What the command line asks for.
struct command {
  bool many = false;
  std::uint64_t seed = 1, seeds = 100;  // `seed`: the one, or the first of many
  double seconds = 0;                   // stop beginning new seeds after so long; 0: no limit
  std::uint32_t jobs = 2;               // processes at once
  std::optional<std::vector<std::uint32_t>> operations;  // only these
  std::vector<std::string> left_out;                     // faults
  std::uint64_t other_schedule = 0;                      // another one for the same plan; 0: the seed's own
  std::uint32_t every = 0;                               // a calmer one; 0: the seed's own
  planted_bug bug;
  bool shows_trace = true, shows_switches = false, shows_plan = false;
  bool shortens = true;
};

/// False, after it has said why, when the arguments mean nothing.
bool parse(int argc, char** argv, command& c);
/// Changes the plan as the command asks.
void apply(command const& c, plan& p);
/// The arguments that repeat `c`.
std::vector<std::string> arguments_of(command const& c);
/// Runs one plan in this process, on one core, and ends the process: with 0 when nothing was found.
[[noreturn]] void run_one(command const& c);
/// 0: nothing was found. 1: something was, and is printed. Before the first thread of this process.
int run_many(command const& c);

}  // namespace simulation
