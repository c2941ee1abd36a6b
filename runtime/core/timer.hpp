// Repeated actions, on a runtime's own thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>

namespace rondo {

/// The shortest period of what repeats. A shorter one would take a whole core.
inline constexpr std::chrono::microseconds shortest_period{100};
/// A longer period, or delay, is cut down to this one, which a clock can add to any time.
inline constexpr std::chrono::nanoseconds longest_period = std::chrono::days(365 * 100);

/// The next time of what was due at `due` and repeats: a multiple of `period` later, and after `now`. What was missed,
/// because the process or its thread stood still, is not made up for.
constexpr std::chrono::steady_clock::time_point next_due(std::chrono::steady_clock::time_point due,
                                                         std::chrono::nanoseconds period,
                                                         std::chrono::steady_clock::time_point now) noexcept {
  auto const next = due + period;
  return next > now ? next : next + ((now - next) / period + 1) * period;
}

/// A repetition, which ends when this is destroyed; returned by runtime::every. Must not outlive the runtime. A forked
/// child's copy does nothing.
class timer {
 public:
  timer() = default;
  /// Calls `action` on `executor` every `period`, first after one period, until it returns false. Does not drift: each
  /// time is a multiple of `period` after the start. Times that were missed are skipped. Throws std::invalid_argument
  /// for a period below shortest_period.
  timer(boost::asio::any_io_executor const& executor, std::chrono::nanoseconds period,
        std::function<bool()> action);
  timer(timer&&) = default;
  timer& operator=(timer&&) = default;

  /// Ends the repetition. If called on the runtime's thread, no action begins after this returns; on another thread,
  /// one may still be running.
  void cancel() { repetition_.reset(); }

 private:
  std::shared_ptr<void> repetition_;
};

}  // namespace rondo
