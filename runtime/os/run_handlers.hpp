// Runs completion handlers on a thread of Rondo, which an exception of a handler must not end.
#pragma once

#include <boost/asio/io_context.hpp>

#include "kernels/base/exceptions.hpp"

namespace rondo {

/// As io_context::run, but passes what a handler throws to `report` (void(char const*)) and goes on with the others.
template <class Report>
void run_handlers(boost::asio::io_context& context, Report const& report) {
  for (bool ended = false; !ended;) call_caught([&] { context.run(), ended = true; }, report);
}

}  // namespace rondo
