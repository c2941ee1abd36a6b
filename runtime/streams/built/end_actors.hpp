// Terminates actors together, and waits for their ends.
#pragma once

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include "runtime/lifecycle.hpp"

namespace rondo::streams {

class ending_actors {
 public:
  /// Terminates the actor without handling its mail. Does nothing for a ref to none.
  template <class Ref>
  void add(Ref const& actor) {
    if (!actor.id().valid()) return;
    auto done = std::make_shared<std::promise<void>>();
    ends_.push_back(done->get_future());
    terminate(actor, termination::discard, [done](error_code) { done->set_value(); });
  }
  /// False: some have not ended within 10 s, because they do not return from a handler.
  bool wait() {
    auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    return std::ranges::all_of(ends_,
                               [&](auto& e) { return e.wait_until(limit) == std::future_status::ready; });
  }

 private:
  std::vector<std::future<void>> ends_;
};

}  // namespace rondo::streams
