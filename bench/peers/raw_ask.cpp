// A request to a serving thread over raw queues.
#include <readerwriterqueue/readerwriterqueue.h>

#include <condition_variable>
#include <deque>
#include <mutex>

#include "bench/harness/sampling.hpp"
#include "bench/peers/echo_thread.hpp"
#include "bench/peers/raw_queues.hpp"

namespace rondo::bench {
namespace {

/// Both sides sleep until there is something to take.
struct parked_condvar {
  static constexpr auto name = "mutex + condition variable";
  void push(std::uint64_t value) {
    {
      std::lock_guard const lock(mutex);
      items.push_back(value);
    }
    filled.notify_one();
  }
  bool pop(std::uint64_t& value) {
    std::unique_lock lock(mutex);
    filled.wait(lock, [&] { return !items.empty(); });
    value = items.front();
    items.pop_front();
    return true;
  }
  std::mutex mutex;
  std::condition_variable filled;
  std::deque<std::uint64_t> items;
};

/// Spins for a while, then sleeps on a semaphore.
struct parked_moodycamel {
  static constexpr auto name = "BlockingReaderWriterQueue";
  void push(std::uint64_t value) { queue.enqueue(value); }
  bool pop(std::uint64_t& value) {
    queue.wait_dequeue(value);
    return true;
  }
  moodycamel::BlockingReaderWriterQueue<std::uint64_t> queue{64};
};

template <class Queue>
bench_case ask_idle_case(bool anchor = false) {
  auto const run = [](sample_budget const& budget) {
    pin_to(budget.cpus[0]);
    echo_thread<Queue> server(budget.cpus[1]);
    return round_trips(
        budget, [&](std::uint64_t value) { return server.ask(value); }, std::chrono::milliseconds(1));
  };
  return {"ask_after_idle", Queue::name, {{"idle_ms", "1"}}, run, anchor};
}

}  // namespace

case_list raw_ask_cases() {
  return {ask_idle_case<parked_condvar>(true), ask_idle_case<parked_moodycamel>()};
}

}  // namespace rondo::bench
