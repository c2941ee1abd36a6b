// A guest: a program thread that briefly acts as a team and runs handlers itself, so that its own messages are handled
// without waking another thread.
//
//   auto guest = rt.make_guest();        // null: no guest team is free, or the device does not run on threads of this
//                                        // process
//   for (;;) {
//     {
//       quiet_posts const quiet;         // messages sent in this scope wake no team ...
//       take_requests();
//     }
//     guest->run(1ms);                   // ... and are handled here, or passed to the teams
//   }
//
// Handlers run on the caller's stack, so a long handler delays the caller. Threads: one at a time per guest.
// Lifetime: must not outlive its runtime.
#pragma once

#include <chrono>
#include <cstdint>

namespace rondo {

/// True while this thread's messages to actors of a `cpu` device wake no team.
inline constinit thread_local bool posts_are_quiet = false;

/// During its lifetime, this thread's messages wake no team of a `cpu` device.
class quiet_posts {
 public:
  /// With false, messages wake teams as usual.
  explicit quiet_posts(bool quiet = true) noexcept { posts_are_quiet = quiet; }
  /// Messages wake teams again.
  ~quiet_posts() { posts_are_quiet = false; }
  quiet_posts(quiet_posts const&) = delete;
  quiet_posts& operator=(quiet_posts const&) = delete;
};

class guest {
 public:
  virtual ~guest() = default;
  /// Runs ready actors until none is left, or until `limit` has passed after an actor's turn; wakes teams for the rest.
  /// Returns the number of completed messages. After quiet posts, must be called before the thread waits for anything.
  virtual std::uint64_t run(std::chrono::nanoseconds limit) = 0;
};

}  // namespace rondo
