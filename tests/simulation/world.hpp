// The world of one simulated run: its threads, of which only one runs at a time, and its virtual time.
//
// Threads are system threads, so that thread-local data of libraries works, but each waits until the running thread
// passes its turn on. It does so only at a *point*: an atomic access of Rondo, or a call of the system that blocks or
// returns the time (threads.cpp, system_calls.cpp). The schedule's seed alone determines which thread continues and how
// long everything takes. A seed therefore repeats a run exactly.
//
// Threads: all functions are called from the running thread; there is one world in a process.
#pragma once

#include <pthread.h>

#include <atomic>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "tests/simulation/random.hpp"

namespace simulation {

inline constexpr std::uint64_t never = ~0ull;

/// How the next thread is chosen, and which disturbances occur.
struct schedule {
  enum class policy : std::uint8_t {
    walk,       // at random, after a random number of points
    priorities  // the highest of random priorities, which change at a few random points (PCT)
  };
  policy how = policy::walk;
  std::uint64_t seed = 1;
  std::uint32_t every = 8;              // walk: mean number of points between two choices
  std::uint32_t changes = 0;            // priorities: the number of change points
  std::uint32_t change_range = 20'000;  // ... which lie among this many first points
  std::uint32_t step_ns = 50;           // duration of a point
  std::uint32_t spurious = 0;           // one in this many waits ends for no reason; 0: none
  std::int32_t skew_ppm = 0;            // how much faster the device's clock runs than the host's
  std::uint32_t jump_every = 0;         // at one in this many points the clocks jump ahead; 0: never
  std::uint64_t jump_ns = 0;            // the longest jump
  std::uint32_t stall_every = 0;        // at one in this many points the running thread stalls; 0: never
  std::uint64_t stall_ns = 0;           // the longest stall
};

/// A deliberate bug, to check that it is found.
struct planted_bug {
  bool loses_wakeups = false;  // one in three calls of wake_word does nothing
  std::string split;           // read-modify-writes in functions of this name are not atomic
};

class world {
 public:
  world();
  ~world();
  static world& get() noexcept;

  /// From here on the calling thread, and all threads that it starts, are simulated.
  void begin(schedule const& s, planted_bug const& bug);
  static bool active() noexcept { return active_; }

  using where = std::source_location;

  /// Control may pass to another thread here.
  void point(char const* what, where const& at = where::current());
  /// The running thread cannot make progress until another one does something.
  void spin(bool gives_way, char const* what, where const& at = where::current());
  /// Blocks until `wake` on the same address, or until the deadline, which returns false. May end early if `may_fail`.
  bool wait(void const* on, std::uint64_t deadline_ns, bool may_fail, char const* what,
            where const& at = where::current());
  /// Wakes up to `count` threads that wait on this address; returns how many it woke.
  std::uint32_t wake(void const* on, std::uint32_t count) noexcept;
  /// Something changed that other threads may be polling for.
  void news() noexcept { leap_ns_ = first_leap_ns; }

  std::uint64_t now_ns() const noexcept { return now_ns_; }
  std::uint64_t device_now_ns() const noexcept;
  std::uint64_t steps() const noexcept { return steps_; }
  std::uint64_t switches() const noexcept { return switches_; }
  std::uint64_t jumped_ns() const noexcept { return jumped_ns_; }  // the total of clock jumps and stalls
  std::uint32_t jumps() const noexcept { return jumps_; }
  std::uint32_t stalls() const noexcept { return stalls_; }
  std::uint64_t hash() const noexcept { return hash_; }
  void add_to_hash(std::uint64_t value) noexcept { hash_ = random_numbers::mix(hash_ ^ value) + value; }
  random_numbers& random() noexcept { return random_; }
  planted_bug const& bug() const noexcept { return bug_; }
  /// Whether a planted bug splits this access in two.
  bool splits(where const& at) const {
    return !bug_.split.empty() &&
           std::string_view(at.function_name()).find(bug_.split) != std::string_view::npos;
  }
  /// From here on clocks do not jump, and nothing stalls or ends for no reason.
  void end_disturbances() noexcept;
  /// The run fails when virtual time passes this.
  void set_time_limit(std::uint64_t at_ns) noexcept { time_limit_ns_ = at_ns; }

  // -- threads
  int create(pthread_t* handle, pthread_attr_t const* attributes, void* (*body)(void*), void* argument);
  int join(pthread_t handle, void** result);
  void name_this(char const* name);

  // -- timers that make a file readable, as timerfd
  void set_timer(int fd, std::uint64_t at_ns);
  void forget_timer(int fd);

  // -- notes and failures
  bool traces_switches = false;
  /// Adds an event of the program to the trace and to the hash.
  void note(std::string text);
  /// Ends the process: the run has failed.
  [[noreturn]] void fail(std::string const& why);
  /// Called by `fail` after its report.
  std::function<void()> on_failure;
  std::vector<std::string> const& notes() const noexcept { return notes_; }

 private:
  struct thread;
  struct timer {
    int fd;
    std::uint64_t at_ns;
  };
  static constexpr std::uint64_t first_leap_ns = 100;
  /// Several times the need of the longest programs, with three teams of 32 lanes: an endless loop is found within a
  /// minute.
  static constexpr std::uint64_t step_limit = 30'000'000;

  thread& self() const noexcept;
  void advance(std::uint64_t ns);
  void fire();
  void note_deadline(std::uint64_t at_ns) noexcept;
  void disturb();
  std::size_t choose(bool not_self);
  void hand_over(std::size_t to);
  void pass_on(bool not_self);
  void leave();
  static void* run_thread(void* t);
  static void wait_for_turn(thread& t);
  bool all_spin() const noexcept;
  std::string stamp() const;
  std::string where_all_stand() const;

  static inline bool active_ = false;
  schedule schedule_;
  planted_bug bug_;
  random_numbers random_;
  std::vector<std::unique_ptr<thread>> threads_;
  std::vector<std::size_t> choices_;
  std::vector<std::uint64_t> change_points_;
  std::vector<timer> timers_;
  std::size_t running_ = 0;
  std::uint64_t now_ns_ = 1'000'000'000, next_deadline_ns_ = never, time_limit_ns_ = never;
  std::uint64_t steps_ = 0, switches_ = 0, next_choice_ = 1, hash_ = 0, leap_ns_ = first_leap_ns;
  std::uint64_t jumped_ns_ = 0;
  std::uint32_t jumps_ = 0, stalls_ = 0, leaps_ = 0;
  std::int64_t lowest_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace simulation
