// The result of rondo::inspect (runtime/lifecycle.hpp).
#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <vector>

#include "kernels/link/device_event.hpp"
#include "kernels/mail/snapshot.hpp"

namespace rondo {

/// What rondo::inspect finds.
struct inspection {
  actor_snapshot now;  // read just after the turn of `depths`
  /// At one turn, by priority, highest first; only priorities with mail.
  std::vector<depth_page::entry> depths;
};

/// Of an inspection, or of another lifecycle operation, which finds nothing.
struct inspection_outcome {
  errc reason;       // ok, or why the operation failed
  inspection found;  // empty for other operations
};
/// Gets the outcome, once.
using inspection_handler = boost::asio::any_completion_handler<void(inspection_outcome)>;

}  // namespace rondo
