// The work that a pending operation keeps on its handler's executor, as every operation of Asio does: an io_context
// does not run out of work before the handler was called or destroyed.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <utility>

namespace rondo::detail {

/// An executor that counts as work while it exists.
template <class Executor>
auto tracked(Executor executor) {
  return boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked);
}

/// Empty, and without cost, for a handler without an associated executor.
template <class Handler>
using handler_work = decltype(tracked(boost::asio::get_associated_executor(std::declval<Handler const&>())));

template <class Handler>
handler_work<Handler> work_for(Handler const& handler) {
  return tracked(boost::asio::get_associated_executor(handler));
}

}  // namespace rondo::detail
