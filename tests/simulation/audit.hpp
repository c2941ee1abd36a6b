// The checks at the end of a simulated run. A check that fails ends the run through world::fail, with the guarantee (G1 to
// G12) that was broken.
#pragma once

#include "runtime/observe/telemetry.hpp"
#include "tests/simulation/ledger.hpp"

namespace simulation {

/// Empty if every message known to have been sent has ended, and the counters agree; otherwise describes what is missing.
std::string what_is_missing(ledger const& l, rondo::telemetry const& t);
/// G1: describes where the counters differ from the ledger; empty if they agree. While messages are in progress they may
/// differ.
std::string what_disagrees(ledger const& l, rondo::telemetry const& t);
/// G2, G9, G12, for every message. `complete`: no stop or loss cut anything off.
void check_letters(ledger const& l, bool complete);

}  // namespace simulation
