// The cases of bench_gpu, by what they measure.
#pragma once

#include <chrono>
#include <memory>

#include "bench/harness/bench_case.hpp"

namespace rondo::bench::gpu {

/// Host to actor to host, by each way in; urgent asks under load; the first answer after idleness.
case_list latency_cases();
/// Launching an actor, restarting one that failed.
case_list lifecycle_cases();
/// Actor to actor, many to one, all to all.
case_list device_cases();
/// One thread of the host that sends for `duration`.
case_list sustained_cases(std::chrono::seconds duration);
/// Buffers of the device, copies from pinned memory.
case_list memory_cases();
/// The same, and graphs, by bare CUDA (memory.cu).
case_list bare_memory_cases();
/// A copy kernel alone, and beside an idle runtime.
case_list copy_cases();
/// A runtime that is up and has nothing to do for `duration`.
case_list idle_cases(std::chrono::seconds duration);

/// What bare CUDA does: launch and wait, graph and wait, flags through pinned memory (baselines.cu).
case_list bare_cases();
/// What the hardware does: orders and depths of polling, torn words, modules loaded meanwhile (experiments.cu).
case_list experiment_cases();

/// A memory-bound kernel on a stream of its own. Claims its memory when it is made: do that before a ring kernel runs.
class copier {
 public:
  /// `multiprocessors` 0: as many as the GPU has.
  explicit copier(std::uint32_t multiprocessors);
  ~copier();
  copier(copier const&) = delete;
  copier& operator=(copier const&) = delete;

  /// Copies for about `time`, checks a part of the copy, and returns bytes read and written per second.
  double run(std::chrono::nanoseconds time);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rondo::bench::gpu
