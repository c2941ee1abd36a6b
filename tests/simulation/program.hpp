// Runs a plan on a new runtime, and checks the results.
#pragma once

#include "tests/simulation/plan.hpp"

namespace simulation {

/// Runs on the simulated main thread. Fails through world::fail.
void run_program(plan const& p);

}  // namespace simulation
