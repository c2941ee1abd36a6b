// The checks at the end of a simulated run. A check that fails ends the run through world::fail, with the guarantee (G1
// to G12) that was broken.
#pragma once

#include "runtime/observe/telemetry.hpp"
#include "runtime/state/checkpoint_image.hpp"
#include "tests/simulation/ledger.hpp"

namespace simulation {

/// Empty if every message known to have been sent has ended, and the counters agree; otherwise describes what is
/// missing.
std::string what_is_missing(ledger const& l, rondo::telemetry const& t);
/// G1: describes where the counters differ from the ledger; empty if they agree. While messages are in progress they
/// may differ.
std::string what_disagrees(ledger const& l, rondo::telemetry const& t);
/// G2, G9, G12, for every message. `complete`: no stop or loss cut anything off.
void check_letters(ledger const& l, bool complete);
/// G1, G2, G7, for a checkpoint that was begun at this step and is complete now: each message that had been accepted
/// before and has not ended is in it once and in order, and none that had ended before. Messages to actors that may be
/// ending are not looked for.
void check_checkpoint(ledger const& l, rondo::checkpoint_image const& image, std::uint64_t begun);

}  // namespace simulation
