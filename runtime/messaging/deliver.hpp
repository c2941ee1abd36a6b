// Hands an outcome to a completion handler on the executor that the handler is associated with.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>
#include <utility>

namespace rondo {

/// From a thread that is not inside an initiating function: a team, a poller. One hop, or none for a handler of the system's
/// executor: that one runs here, which allocates nothing.
template <class Executor, class Handler, class Outcome>
void deliver(Executor const& fallback, Handler handler, Outcome outcome) {
  auto const executor = boost::asio::get_associated_executor(handler, fallback);
  if constexpr (requires { executor.template target<boost::asio::system_executor>(); }) {
    // As dispatch would do it, which takes memory first to carry the handler.
    if (executor.template target<boost::asio::system_executor>() != nullptr)
      return std::move(handler)(std::move(outcome));
  }
  boost::asio::dispatch(executor, [handler = std::move(handler), outcome = std::move(outcome)]() mutable {
    std::move(handler)(std::move(outcome));
  });
}

/// From anywhere, also from inside the initiating function, which must not see its handler called: by way of
/// `fallback`.
template <class Handler, class Outcome>
void deliver_later(boost::asio::any_io_executor const& fallback, Handler handler, Outcome outcome) {
  boost::asio::post(fallback,
                    [fallback, handler = std::move(handler), outcome = std::move(outcome)]() mutable {
                      deliver(fallback, std::move(handler), std::move(outcome));
                    });
}

}  // namespace rondo
