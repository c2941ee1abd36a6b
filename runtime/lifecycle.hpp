// Lifecycle operations on actors: activate, deactivate, terminate, inspect.
//
//   co_await rondo::terminate(clicks, rondo::termination::drain);
//
// Each takes an actor_ref or an any_ref, which knows its runtime; runtime::at turns an id into a ref. The operations
// bypass the mailbox: an actor carries them out before its next message. Threads: any.
#pragma once

#include <concepts>

#include "kernels/link/host_request.hpp"
#include "runtime/observe/inspection.hpp"
#include "runtime/runtime.hpp"

namespace rondo {

/// An actor_ref or an any_ref.
template <class Ref>
concept local_ref = requires(Ref const& actor) {
  { actor.id() } -> std::same_as<actor_id>;
  { actor.mail() } -> std::same_as<messenger&>;
};

namespace detail {
void start_control(messenger& home, actor_id actor, control_bits bits, inspection_handler handler);

/// `Found...`: what a handler gets after the error_code; nothing or an inspection.
template <class... Found, local_ref Ref, class Token>
auto control(Ref const& actor, control_bits bits, Token&& token) {
  return boost::asio::async_initiate<Token, void(error_code, Found...)>(
      [](auto handler, messenger* home, actor_id id, control_bits b) {
        start_control(*home, id, b,
                      inspection_handler(typed_answer<decltype(handler), Found...>{std::move(handler)}));
      },
      token, &actor.mail(), actor.id(), bits);
}
}  // namespace detail

/// Each operation completes with void(error_code) when it is done; actor_gone if the actor has terminated.
template <local_ref Ref, class Token = boost::asio::use_awaitable_t<>>
auto activate(Ref const& actor, Token&& token = {}) {
  return detail::control(actor, control_activate, std::forward<Token>(token));
}
/// A deactivated actor keeps its mail but does not handle it.
template <local_ref Ref, class Token = boost::asio::use_awaitable_t<>>
auto deactivate(Ref const& actor, Token&& token = {}) {
  return detail::control(actor, control_deactivate, std::forward<Token>(token));
}
/// Completes when the actor is gone and its name is free.
template <local_ref Ref, class Token = boost::asio::use_awaitable_t<>>
auto terminate(Ref const& actor, termination how, Token&& token = {}) {
  return detail::control(actor, how == termination::drain ? control_drain : control_discard,
                         std::forward<Token>(token));
}
/// Completes with void(error_code, inspection): the depth by priority at one turn of the actor, and its state and
/// counters as read just after that turn.
template <local_ref Ref, class Token = boost::asio::use_awaitable_t<>>
auto inspect(Ref const& actor, Token&& token = {}) {
  return detail::control<inspection>(actor, control_inspect, std::forward<Token>(token));
}

}  // namespace rondo
