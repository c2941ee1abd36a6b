// Setup of a thread, its name and its core, and how long it has run.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace rondo {

/// Names the calling thread for debuggers, and pins it to `core` unless that is negative. Where the system cannot do
/// that, it does nothing.
void prepare_thread(std::string const& name, int core);
/// The cores on which the calling thread may run (its affinity mask), in ascending order; empty if the system
/// does not report them.
std::vector<int> allowed_cores();

/// The processor time of one thread, from any thread.
class thread_time {
 public:
  /// Of no thread.
  thread_time() = default;
  static thread_time of_this_thread() noexcept;
  /// How long it has run. 0: not known, as of no thread, or where the system does not tell other threads.
  std::chrono::nanoseconds run_time() const noexcept;

 private:
  int clock_ = 0;  // the system's number; 0: of no thread
};

/// As std::this_thread::sleep_until, but as punctual as the system can be.
void sleep_punctually_until(std::chrono::steady_clock::time_point when);

}  // namespace rondo
