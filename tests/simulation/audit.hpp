// The checks of a simulated run that look back at all of it. Each ends the run through world::fail when it does not
// hold, with the guarantee (G1 to G12) that was broken.
#pragma once

#include "runtime/observe/telemetry.hpp"
#include "tests/simulation/ledger.hpp"

namespace simulation {

/// Whether everything that is known to have been sent has come to an end, and the counters say so; while that is not
/// so, what is missing.
std::string what_is_missing(ledger const& l, rondo::telemetry const& t);
/// G1: where the counters do not agree with the ledger; empty when they do. While something is under way they may not.
std::string what_disagrees(ledger const& l, rondo::telemetry const& t);
/// G2, G9, G12, for every message. `complete`: nothing was cut off by a stop or a loss.
void check_letters(ledger const& l, bool complete);

}  // namespace simulation
