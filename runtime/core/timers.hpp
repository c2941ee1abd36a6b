// Delayed and repeated actions, on the runtime's own thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "runtime/core/timer.hpp"

namespace rondo {

/// Threads: any.
class timer_service {
 public:
  explicit timer_service(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  /// Calls `action` every `period`, first after one period. Does not drift: each time is a multiple of `period` after
  /// the start.
  timer every(std::chrono::nanoseconds period, std::function<void()> action);
  void once(std::chrono::nanoseconds delay, std::function<void()> action);

 private:
  boost::asio::any_io_executor executor_;
};

}  // namespace rondo
