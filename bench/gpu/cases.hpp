// The cases of bench_gpu, grouped by what they measure.
#pragma once

#include <chrono>

#include "bench/harness/bench_case.hpp"

namespace rondo::bench::gpu {

/// Host to actor to host; urgent asks under load; the first answer after idleness.
case_list latency_cases();
/// The steps of an ask by the device's clock. On cuda alone.
case_list ask_steps_cases();
/// Launching an actor, and restarting one that failed.
case_list lifecycle_cases();
/// Actor to actor, many to one, all to all.
case_list device_cases();
/// One host thread that sends for `duration`.
case_list sustained_cases(std::chrono::seconds duration);
/// Buffers of the device, and copies from pinned memory.
case_list memory_cases();
/// A runtime that is idle for `duration`.
case_list idle_cases(std::chrono::seconds duration);

/// The same work with bare CUDA: launches, graphs, flags through pinned memory; buffers, copies (baselines.cu).
case_list bare_cases();
/// Bins of a frame's shapes, sorted by CUB in a captured graph, and by the portable sort on the host (bins.cpp).
case_list bins_cases();
/// Ways to pass a message over the bus (experiments.cu).
case_list experiment_cases();

/// The sizes of memory_cases and of their baselines.
inline constexpr std::uint64_t acquired_bytes = 64 << 10, copied_bytes = 32 << 20;

}  // namespace rondo::bench::gpu
