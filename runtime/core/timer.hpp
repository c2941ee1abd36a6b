// Repeated actions, on a runtime's own thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>

namespace rondo {

/// A repetition, which ends when this is destroyed; returned by runtime::every. Must not outlive the runtime. A forked child's copy does
/// nothing.
class timer {
 public:
  timer() = default;
  /// Calls `action` on `executor` every `period`, first after one period, until it returns false. Does not drift: each time is a
  /// multiple of `period` after the start.
  timer(boost::asio::any_io_executor const& executor, std::chrono::nanoseconds period,
        std::function<bool()> action);
  timer(timer&&) = default;
  timer& operator=(timer&&) = default;

  /// Ends the repetition. If called on the runtime's thread, no action begins after this returns; on another thread, one may
  /// still be running.
  void cancel() { repetition_.reset(); }

 private:
  std::shared_ptr<void> repetition_;
};

}  // namespace rondo
