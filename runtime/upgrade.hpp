// Upgrade of a running runtime to another module, whose behaviours take over the actors.
#pragma once

#include "runtime/runtime.hpp"

namespace rondo {

namespace detail {
void upgrade(runtime& rt, program const& next);
}

/// A behaviour takes over the actors of the old behaviour that it names in `upgrades`; a behaviour of the same name keeps its
/// actors. Ids, names, mail, and counters stay. A waiting message that the new behaviour does not take becomes a dead letter.
/// Blocks until a safepoint. Throws std::runtime_error, without changes, if a living actor's behaviour has no successor,
/// memory runs out, a device cannot run the module, or no safepoint was reached.
template <class Module>
void upgrade(runtime& rt, use_t<Module>) {
  detail::upgrade(rt, program_of<Module>());
}

}  // namespace rondo
