// Delivery of an outcome to a completion handler, on the handler's associated executor.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>
#include <utility>

#include "runtime/messaging/handler_work.hpp"

namespace rondo {

/// For threads that are not inside an initiating function: a team, a poller. Takes one hop; a handler of the system executor
/// runs right here, without allocation.
template <class Executor, class Handler, class Outcome>
void deliver(Executor const& fallback, Handler handler, Outcome outcome) {
  auto executor = boost::asio::get_associated_executor(handler, fallback);
  if constexpr (requires { executor.template target<boost::asio::system_executor>(); }) {
    // As dispatch would, but dispatch first allocates memory for the handler.
    if (executor.template target<boost::asio::system_executor>() != nullptr)
      return std::move(handler)(std::move(outcome));
  }
  // Work until dispatch has returned: once the handler was called, the executor's context may be destroyed, while dispatch and
  // the executor still use it. Moved, so that no other copy of the executor is left here.
  auto const kept = detail::tracked(std::move(executor));
  boost::asio::dispatch(kept, [handler = std::move(handler), outcome = std::move(outcome)]() mutable {
    std::move(handler)(std::move(outcome));
  });
}

/// For any thread, even inside the initiating function, which must return before its handler is called. Goes through
/// `fallback`.
template <class Handler, class Outcome>
void deliver_later(boost::asio::any_io_executor const& fallback, Handler handler, Outcome outcome) {
  boost::asio::post(fallback,
                    [fallback, handler = std::move(handler), outcome = std::move(outcome)]() mutable {
                      deliver(fallback, std::move(handler), std::move(outcome));
                    });
}

}  // namespace rondo
