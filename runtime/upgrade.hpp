// Replaces the module that a runtime runs: its actors continue as those of another one.
#pragma once

#include "runtime/runtime.hpp"

namespace rondo {

namespace detail {
void upgrade(runtime& rt, program const& next);
}

/// Behaviours that name one of the old module in `upgrades` take over its actors, and behaviours of the same name keep theirs;
/// ids, names, mail and counters stay. A waiting message that the new behaviour does not take becomes a dead letter. Blocks
/// until no handler runs. Throws std::runtime_error, and nothing has changed, when a living actor's behaviour has no successor,
/// memory is short, a device cannot run the module, or no safepoint was reached.
template <class Module>
void upgrade(runtime& rt, use_t<Module>) {
  detail::upgrade(rt, program_of<Module>());
}

}  // namespace rondo
