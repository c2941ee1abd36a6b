// A thread of the program that runs handlers itself, for a moment at a time: what it has just sent is dealt with without
// another thread being woken for it.
//
//   auto guest = rt.make_guest();        // null: no team is left for one, or the device is not this process's own threads
//   for (;;) {
//     {
//       quiet_posts const quiet;         // what is sent in here wakes no team ...
//       take_requests();
//     }
//     guest->run(1ms);                   // ... and is handled here, or handed to the teams
//   }
//
// Handlers run on the caller's stack, so one that takes long holds the caller up. Threads: each guest one at a time.
// Lifetime: not longer than its runtime.
#pragma once

#include <chrono>
#include <cstdint>

namespace rondo {

/// Set while what this thread sends to actors of a device `cpu` wakes nobody.
inline constinit thread_local bool posts_are_quiet = false;

class quiet_posts {
 public:
  explicit quiet_posts(bool quiet = true) noexcept { posts_are_quiet = quiet; }
  ~quiet_posts() { posts_are_quiet = false; }
  quiet_posts(quiet_posts const&) = delete;
  quiet_posts& operator=(quiet_posts const&) = delete;
};

class guest {
 public:
  virtual ~guest() = default;
  /// Runs what is ready until nothing is, or `limit` has passed between two actors' turns; wakes teams for what is left.
  /// Returns the messages dealt with. Must follow quiet posts before the thread waits for anything.
  virtual std::uint64_t run(std::chrono::nanoseconds limit) = 0;
};

}  // namespace rondo
