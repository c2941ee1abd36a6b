// The lines that handlers log: their text and their way to subscribers, or to stderr.
//
// Threads: any.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/actor/log_event.hpp"
#include "runtime/observe/hub.hpp"

namespace rondo {

/// A line that a handler has logged (context::log).
struct log_line {
  std::chrono::system_clock::time_point time;  // when the handler logged it
  log_level level = log_level::info;           // how important it is
  actor_id actor;                              // that logged it
  std::string actor_name;                      // empty if the actor has none
  std::string behaviour;                       // qualified
  std::uint32_t device = 0;                    // where the actor lives
  std::string text;                            // control characters are replaced by spaces
  std::uint64_t dropped = 0;  // earlier lines that were dropped because too many waited for delivery
};

/// `info`, ...
char const* name_of(log_level level) noexcept;
/// "[info] counter 'c': text", without a line break, for a terminal or a log: clean_text.
std::string to_text(log_line const& line);

// -- for the runtime

/// The line of a `logged` event, without the names of its actor. Each "{}" in the text becomes the next number; numbers
/// without one are appended.
log_line read_log_event(device_event const& event);

/// Delivers lines on the executor, in order. At most `most_waiting` of them wait.
class log_hub {
 public:
  static constexpr std::size_t most_waiting = 4096;

  /// `on_throw` gets the text of each exception of a handler. The executor calls nothing after this object is gone.
  log_hub(boost::asio::any_io_executor executor, std::function<void(char const*)> on_throw)
      : executor_(executor), subscribers_(std::move(executor), std::move(on_throw)) {}

  subscription subscribe(std::function<void(log_line const&)> handler) {
    return subscribers_.subscribe(std::move(handler));
  }
  void take(log_line line);

 private:
  void deliver();

  boost::asio::any_io_executor executor_;
  hub<log_line> subscribers_;
  std::mutex mutex_;               // guards the members below
  std::vector<log_line> waiting_;  // if it is not empty, a call of `deliver` is on its way
  std::uint64_t dropped_ = 0;
};

}  // namespace rondo
