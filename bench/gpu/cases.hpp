// The cases of bench_gpu, grouped by what they measure.
#pragma once

#include <chrono>
#include <memory>

#include "bench/harness/bench_case.hpp"

namespace rondo::bench::gpu {

/// Host to actor to host, over each path; urgent asks under load; the first answer after idleness.
case_list latency_cases();
/// Launching an actor, and restarting one that failed.
case_list lifecycle_cases();
/// Actor to actor, many to one, all to all.
case_list device_cases();
/// One host thread that sends for `duration`.
case_list sustained_cases(std::chrono::seconds duration);
/// Buffers of the device, and copies from pinned memory.
case_list memory_cases();
/// The same, and graphs, with bare CUDA (memory.cu).
case_list bare_memory_cases();
/// A copy kernel alone, and next to an idle runtime.
case_list copy_cases();
/// A runtime that is idle for `duration`.
case_list idle_cases(std::chrono::seconds duration);

/// Bare CUDA: launch and wait, graph and wait, flags through pinned memory (baselines.cu).
case_list bare_cases();
/// The hardware itself: orders and depths of polling, torn words, loading a module while a kernel runs (experiments.cu).
case_list experiment_cases();

/// A memory-bound kernel on its own stream. Allocates its memory in the constructor: construct it before a ring kernel runs.
class copier {
 public:
  /// `multiprocessors` 0: as many as the GPU has.
  explicit copier(std::uint32_t multiprocessors);
  ~copier();
  copier(copier const&) = delete;
  copier& operator=(copier const&) = delete;

  /// Copies for about `time`, checks a part of the copy, and returns the bytes read and written per second.
  double run(std::chrono::nanoseconds time);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rondo::bench::gpu
