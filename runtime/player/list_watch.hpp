// Reports the end of each list that a player has given to its driver: once, in the order of the lists, one at a time,
// and at the latest after a time limit.
//
// Drivers play lists in order, but may call back in any, and on several threads: pocl does. A list that has ended is
// reported when those before it have been.
//
// A GPU that hangs ends nothing, and no driver promises to say so. A list that has not ended within the limit is
// reported as `device_lost`, with all that wait behind it; from then on the player is lost. What the driver says of
// such a list later is ignored.
//
// Threads: any. Lists begin in the order in which the driver plays them. The limit counts from when a list has become
// the first of those that have not ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "runtime/player/kernel_player.hpp"

namespace rondo {

// -- for the runtime

inline constexpr std::chrono::seconds kernel_list_limit{10};  // of a list, if a player is given no other

class list_watch {
  struct state;

 public:
  /// What a driver's callback holds of a list. It may outlive the watch.
  class list {
    friend list_watch;
    std::shared_ptr<state> of_;
    std::uint64_t number_ = 0;
    std::string failure_{};
  };

  /// `machine` is its name, which begins the texts. Throws no_thread.
  list_watch(std::string machine, std::chrono::nanoseconds limit);
  /// Precondition: `wait` has returned.
  ~list_watch();
  list_watch(list_watch const&) = delete;
  list_watch& operator=(list_watch const&) = delete;

  /// A list that the driver has, or is about to get. If there is a text of a failure, the list is to end with
  /// `device_lost` and this text, whatever the driver says, and the player is lost at once.
  std::unique_ptr<list> begin(kernel_player::ended done, std::string failure = {});
  /// The driver has ended it, or has not taken it: its `done` is called, unless it was lost before. By this call, or,
  /// if lists before it have not been reported, by the thread that reports them.
  static void end(std::unique_ptr<list> which, error_code why = {}, std::string const& text = {});
  /// Waits until each list is reported. False: the driver still has lists, and may touch all that they name.
  bool wait();

  /// The driver has lists that were reported as lost, so what they name must not be freed.
  bool is_stuck() const noexcept;
  /// A list has failed, or was reported as lost.
  bool is_lost() const noexcept;
  /// Lists that the driver has played to their end.
  std::uint64_t played() const noexcept;

 private:
  std::shared_ptr<state> state_;
  std::thread thread_;
};

}  // namespace rondo
