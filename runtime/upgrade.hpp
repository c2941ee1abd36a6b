// Upgrade of a running runtime to another module, whose behaviours take over the actors.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/runtime.hpp"

namespace rondo {

namespace detail {

void upgrade(runtime& rt, program const& next);

/// Actors of one device get fresh states of this behaviour of the running module, and on_start runs before they handle
/// their mail. Their ids, names, mail, counters and launch arguments stay. `also` is called at the safepoint; what it
/// returns, if not empty, is why nothing is to change. Blocks. Throws std::runtime_error, without changes, with that
/// reason, if an actor is gone, memory runs out, or no safepoint of that device was reached. Preconditions: there are
/// actors, and the behaviour has the arguments of their present ones.
void begin_again(runtime& rt, std::span<actor_id const> actors, std::string_view behaviour,
                 std::function<std::string()> const& also);

}  // namespace detail

/// A behaviour takes over the actors of the old behaviour that it names in `upgrades`; a behaviour of the same name
/// keeps its actors. Ids, names, mail, and counters stay. A waiting message that the new behaviour does not take
/// becomes a dead letter. Blocks until a safepoint. Throws std::runtime_error, without changes, if a living actor's
/// behaviour has no successor, memory runs out, a device cannot run the module, or no safepoint was reached.
template <class Module>
void upgrade(runtime& rt, use_t<Module>) {
  detail::upgrade(rt, program_of<Module>());
}
/// The same for a caller that does not wait: completes with void(std::exception_ptr), which has what the call would
/// throw.
template <class Module, detail::operation_token<void(std::exception_ptr)> Token>
auto upgrade(runtime& rt, use_t<Module> to, Token&& token) {
  return detail::operate_or_throw(rt, std::forward<Token>(token), [&rt, to] { upgrade(rt, to); });
}

}  // namespace rondo
