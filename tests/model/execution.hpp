// One execution of a scenario: its threads are fibers, and control can pass to another one at every atomic access.
//
// A scenario is a function. It sets up shared data, adds named threads, calls `run`, and checks the results:
//
//   void two_adders(model::execution& x) {
//     auto& sum = x.shared<rondo::atomic<std::uint32_t>>();
//     for (int i = 0; i < 2; ++i) x.thread("adder", [&] { sum.fetch_add(1, memory_order::relaxed); });
//     x.run();
//     x.require(sum.load(memory_order::relaxed) == 2, "nothing is lost");
//   }
//
// Threads: one execution at a time in a process; all of it on one system thread.
#pragma once

#include <array>
#include <boost/context/fiber.hpp>
#include <functional>
#include <memory>
#include <stdexcept>

#include "tests/model/memory.hpp"
#include "tests/model/strategy.hpp"

namespace model {

/// Thrown by `run` and, outside threads, by `require`.
struct failed : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Thrown by `run` if a late store could not take effect: the execution is impossible.
struct impossible {};

/// An order to weaken during the runs.
struct weakening {
  order_site site;
  memory_order to = memory_order::relaxed;
};

/// State that is kept from one execution to the next.
struct session {
  weakening const* weaken = nullptr;          // null: the order in the source
  order_uses* uses = nullptr;                 // collects the orders that executions use; null: none
  std::vector<std::string>* trace = nullptr;  // collects each step; null: none
  std::uint64_t step_limit = 20'000;          // an execution that takes more counts as endless
  std::uint64_t steps = 0;                    // of all executions so far

  // Kept because they are expensive to create.
  std::array<boost::context::fiber, max_threads> fibers;  // 0: the fiber that sets up, while others run
  model::memory memory;
};

class execution {
 public:
  execution(session& s, strategy& choices);
  ~execution();  // a thread that a failure interrupted is not unwound: its stack is abandoned
  execution(execution const&) = delete;
  execution& operator=(execution const&) = delete;

  // -- for scenarios

  /// Zeroed memory whose plain accesses are checked for races until the end of the execution.
  std::byte* memory(std::size_t bytes, std::size_t alignment);
  /// Also checks accesses to memory that belongs to somebody else.
  void watch(void const* first, std::size_t bytes) { session_.memory.watch(first, bytes); }
  template <class T, class... Args>
  T& shared(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return *new (memory(sizeof(T), alignof(T) < 64 ? 64 : alignof(T))) T(std::forward<Args>(args)...);
  }
  void thread(char const* name, std::function<void()> body);
  /// Runs all threads to their end.
  void run();
  /// Fails the execution unless `holds`.
  void require(bool holds, char const* what);
  template <class What>  // called only on failure
  requires std::is_invocable_r_v<std::string, What>
  void require(bool holds, What what) {
    if (!holds) require(false, what().c_str());
  }
  /// Lets waits of less than a second time out when no other thread can make progress. Unless this is called none does,
  /// so that a lost wake-up is detected; waits of a second or more never time out.
  void let_time_pass() noexcept { time_passes_ = true; }
  /// Adds a note to the trace.
  void note(std::string const& text);

  // -- for the headers that replace kernels/base/atomic.hpp, park.hpp and clock.hpp

  /// The execution that is running; null outside `run`.
  static execution* current() noexcept { return current_; }

  std::uint64_t load(void* at, unsigned bytes, memory_order order, std::source_location const& where);
  void store(void* at, unsigned bytes, std::uint64_t value, memory_order order,
             std::source_location const& where);
  std::uint64_t read_modify_write(char const* kind, void* at, unsigned bytes, memory_order order,
                                  memory::change const& f, std::source_location const& where);
  bool compare_exchange(void* at, unsigned bytes, std::uint64_t& expected, std::uint64_t desired,
                        memory_order success, memory_order failure, std::source_location const& where);
  void fence(memory_order order, std::source_location const& where);
  void plain(void const* at, std::size_t bytes, bool writes, void const* pc) {
    session_.memory.plain(self().views, at, bytes, writes, pc);
  }
  /// One turn of a spin loop: the thread continues when another one has stored something.
  void spin();
  /// If the word's newest value is `seen`, blocks until `wake`, or until time passes.
  void wait(void* at, std::uint32_t seen, std::uint64_t limit_ns);
  void wake(void* at, int count);
  /// Virtual time: advances by a microsecond at each call.
  std::uint64_t now_ns() noexcept { return now_ns_ += 1000; }

 private:
  enum class state : std::uint8_t { ready, spinning, waiting, ended };
  struct one_thread {
    char const* name = "";
    std::function<void()> body;
    thread_views views{};
    execution::state state = execution::state::ready;
    bool begun = false;
    std::uint64_t others_stores = 0;  // at its last turn in a spin loop
    std::uint32_t in_vain = 0;        // turns of spin loops since another thread stored anything
    void* waits_for = nullptr;
    std::uint64_t limit_ns = 0;  // of that wait
  };

  one_thread& self() noexcept { return threads_[running_]; }
  bool has_news(one_thread const& t) const noexcept {
    return session_.memory.stores() - t.views.stores != t.others_stores;
  }
  memory_order weakened(memory_order order, char const* kind, std::source_location const& where,
                        order_of part);
  void point();
  void pass_on();
  void end_shortest_wait();
  void go_to(std::size_t thread);
  void begin_fiber(std::size_t thread);
  [[noreturn]] void fail(std::string const& what);
  std::string where_all_stand() const;
  void say(char const* kind, void* at, memory_order order, std::uint64_t value,
           std::source_location const& where);

  session& session_;
  strategy& choices_;
  std::vector<one_thread> threads_;
  std::vector<std::size_t> options_;
  std::vector<std::pair<std::byte*, std::align_val_t>> blocks_;
  std::size_t running_ = 0, left_ = 0;  // the running thread, and the one that ran before it
  std::uint32_t in_a_row_ = 0;          // steps of the running thread
  std::uint64_t steps_ = 0, now_ns_ = 1'000'000;
  bool time_passes_ = false;
  std::string failure_;
  static inline execution* current_ = nullptr;
};

using scenario_function = std::function<void(execution&)>;

}  // namespace model
