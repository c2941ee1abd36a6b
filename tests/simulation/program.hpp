// Carries a plan out on a runtime of its own, and checks what came out.
#pragma once

#include "tests/simulation/plan.hpp"

namespace simulation {

/// On the simulated main thread. Fails through world::fail.
void run_program(plan const& p);

}  // namespace simulation
