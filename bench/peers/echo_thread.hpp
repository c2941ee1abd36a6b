// A pinned thread that answers value + 1 over a pair of queues: the raw form of ping-pong and ask.
#pragma once

#include <cstdint>
#include <limits>
#include <thread>

#include "bench/harness/backoff.hpp"
#include "bench/harness/cpus.hpp"

namespace rondo::bench {

/// `Queue` has push(uint64), pop(uint64&). One thread asks; the destructor stops and joins the echo thread.
template <class Queue>
class echo_thread {
 public:
  explicit echo_thread(int cpu) : thread_([this, cpu] { serve(cpu); }) {}
  ~echo_thread() {
    requests_.push(stop);
    thread_.join();
  }
  echo_thread(echo_thread const&) = delete;
  echo_thread& operator=(echo_thread const&) = delete;

  std::uint64_t ask(std::uint64_t value) {
    requests_.push(value);
    return take(replies_);
  }

 private:
  static constexpr std::uint64_t stop = std::numeric_limits<std::uint64_t>::max();

  static std::uint64_t take(Queue& queue) {
    std::uint64_t value = 0;
    for (backoff wait; !queue.pop(value);) wait.pause();
    return value;
  }

  void serve(int cpu) {
    pin_to(cpu);
    for (std::uint64_t value; (value = take(requests_)) != stop;) replies_.push(value + 1);
  }

  alignas(128) Queue requests_;
  alignas(128) Queue replies_;
  std::thread thread_;
};

}  // namespace rondo::bench
