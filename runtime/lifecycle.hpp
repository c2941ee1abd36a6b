// Lifecycle operations on actors: activate, deactivate, terminate, inspect.
//
//   co_await rondo::terminate(rt, clicks.id(), rondo::termination::drain);
//
// They bypass the mailbox: an actor carries them out before its next message. Threads: any.
#pragma once

#include "runtime/observe/inspection.hpp"
#include "runtime/runtime.hpp"

namespace rondo {

/// What happens to the waiting mail of a terminated actor: it is handled first, or dead-lettered.
enum class termination { drain, discard };

/// For `block`.
own_threads const* threads_of(runtime_core const* core) noexcept;

namespace detail {
void start_control(runtime_core& core, actor_id actor, control_bits bits, inspection_handler handler);

/// `Found...`: what a handler gets after the error_code; nothing or an inspection.
template <class... Found, class Token>
auto control(runtime& rt, actor_id actor, control_bits bits, Token&& token) {
  return boost::asio::async_initiate<Token, void(error_code, Found...)>(
      [](auto handler, runtime_core* core, actor_id id, control_bits b) {
        start_control(*core, id, b,
                      inspection_handler(typed_answer<decltype(handler), Found...>{std::move(handler)}));
      },
      token, &rt.core(), actor, bits);
}
}  // namespace detail

/// Each operation completes with void(error_code) when it is done; actor_gone if the actor has terminated.
template <class Token = boost::asio::use_awaitable_t<>>
auto activate(runtime& rt, actor_id actor, Token&& token = {}) {
  return detail::control(rt, actor, control_activate, std::forward<Token>(token));
}
/// A deactivated actor keeps its mail but does not handle it.
template <class Token = boost::asio::use_awaitable_t<>>
auto deactivate(runtime& rt, actor_id actor, Token&& token = {}) {
  return detail::control(rt, actor, control_deactivate, std::forward<Token>(token));
}
/// Completes when the actor is gone and its name is free.
template <class Token = boost::asio::use_awaitable_t<>>
auto terminate(runtime& rt, actor_id actor, termination how, Token&& token = {}) {
  return detail::control(rt, actor, how == termination::drain ? control_drain : control_discard,
                         std::forward<Token>(token));
}
/// Completes with void(error_code, inspection): the depth by priority at one turn of the actor, and its state and counters as read
/// just after that turn.
template <class Token = boost::asio::use_awaitable_t<>>
auto inspect(runtime& rt, actor_id actor, Token&& token = {}) {
  return detail::control<inspection>(rt, actor, control_inspect, std::forward<Token>(token));
}

}  // namespace rondo
