// Terminates actors together, and waits for their ends.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include "runtime/core/runtime_core.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/runtime.hpp"

namespace rondo::streams {

class ending_actors {
 public:
  explicit ending_actors(runtime& rt) : rt_(rt) {}
  /// Terminates the actor without handling its mail. Does nothing for a ref to none.
  template <class Ref>
  void add(Ref const& actor) {
    if (!actor.id().valid()) return;
    auto done = std::make_shared<std::promise<error_code>>();
    ends_.push_back(done->get_future());
    terminate(actor, termination::discard, [done](error_code why) { done->set_value(why); });
  }
  /// No handler of theirs runs any more. False: some have not ended within 10 s, because they do not return from a
  /// handler. Stops the runtime if it is over already, because it was stopped or a device was lost: then no actor is
  /// terminated any more, and those of the other devices may be in a handler.
  bool wait() {
    auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    bool all_gone = true;
    for (auto& e : ends_) {
      if (e.wait_until(limit) != std::future_status::ready) return false;
      auto const why = e.get();
      all_gone = all_gone && (!why || why == errc::actor_gone);
    }
    return all_gone || (rt_.core().closed() && rt_.stop().stopped);
  }

 private:
  runtime& rt_;
  std::vector<std::future<error_code>> ends_;
};

}  // namespace rondo::streams
