// Delivery of an outcome to a completion handler, on the handler's associated executor.
//
// An exception of a handler must not end the thread that delivers, such as a team. An executor that queues the handler
// throws it from its own run(). One that runs it right here does not, so the exception is thrown again on the fallback.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>
#include <exception>
#include <utility>

#include "runtime/messaging/handler_work.hpp"

namespace rondo {

namespace detail {

/// Calls `code`. What it throws, `fallback` throws from its run(), even if this is called inside it: Asio then keeps
/// the exception.
template <class Executor, class Code>
void throw_on(Executor const& fallback, Code const& code) {
  std::exception_ptr thrown;
  try {
    return code();
  } catch (...) {
    thrown = std::current_exception();
  }
  // Here, where no catch block shares the exception any more: `fallback` alone has it, and destroys it.
  boost::asio::dispatch(fallback, [thrown = std::move(thrown)] { std::rethrow_exception(thrown); });
}

}  // namespace detail

/// For threads that are not inside an initiating function: a team, a poller. Takes one hop; a handler of the system
/// executor runs right here, without allocation.
template <class Executor, class Handler, class Outcome>
void deliver(Executor const& fallback, Handler handler, Outcome outcome) {
  auto executor = boost::asio::get_associated_executor(handler, fallback);
  if constexpr (requires { executor.template target<boost::asio::system_executor>(); }) {
    // As dispatch would, but dispatch first allocates memory for the handler.
    if (executor.template target<boost::asio::system_executor>() != nullptr)
      return detail::throw_on(fallback, [&] { std::move(handler)(std::move(outcome)); });
  }
  detail::throw_on(fallback, [&] {
    // Work until dispatch has returned: once the handler was called, the executor's context may be destroyed, while
    // dispatch and the executor still use it. Moved, so that no other copy of the executor is left here.
    auto const kept = detail::tracked(std::move(executor));
    boost::asio::dispatch(kept, [handler = std::move(handler), outcome = std::move(outcome)]() mutable {
      std::move(handler)(std::move(outcome));
    });
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
