// Measurement of an operation's cost in time, memory, and copies, with warm-up and repeats.
//
//   auto const p = rondo::profile_operation(rt, [&] { return worker.ask(work{}, 1s, rondo::block); });
//   fmt::print("{}\n", rondo::to_text(p));
//
// Times are from the host's steady clock, around the whole call: the time that a caller waits. Threads: one. Concurrent
// use of the runtime is counted too.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/memory/buffer_pool.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/runtime.hpp"

namespace rondo {

/// What is measured, and how often.
struct profile_options {
  std::uint32_t device = 0;   // whose buffers and copies are measured
  std::uint32_t warm_up = 1;  // unmeasured calls before the others
  std::uint32_t repeats = 5;  // measured calls, at least 1
};

/// What an operation cost.
struct operation_costs {
  std::vector<std::chrono::nanoseconds> times;  // of each repeat, shortest first
  /// Change in bytes of buffers in use over all repeats: what the operation keeps or, if negative, releases.
  std::int64_t host_bytes = 0;
  std::int64_t device_bytes = 0;  // likewise on the device
  transfer_counts copies;         // during all repeats

  /// The shortest time.
  std::chrono::nanoseconds fastest() const { return times.front(); }
  /// The longest time.
  std::chrono::nanoseconds slowest() const { return times.back(); }
  /// The time in the middle.
  std::chrono::nanoseconds median() const { return times[times.size() / 2]; }
};

/// Adds the last call's result; absent if the operation returns nothing.
template <class Result>
struct operation_profile : operation_costs {
  std::optional<Result> result;  // of the last call
};
template <>
struct operation_profile<void> : operation_costs {};

namespace detail {

/// The counters whose differences make up a profile.
struct costs_so_far {
  std::int64_t host_bytes = 0, device_bytes = 0;
  transfer_counts copies;

  costs_so_far(runtime& rt, std::uint32_t device)
      : host_bytes(static_cast<std::int64_t>(rt.host_buffers().statistics().in_use_bytes)),
        copies(rt.transfers(device)) {
    auto const memory = rt.memory(device);
    if (!memory.is_one()) device_bytes = static_cast<std::int64_t>(memory.device->statistics().in_use_bytes);
    if (memory.pinned != nullptr)
      host_bytes += static_cast<std::int64_t>(memory.pinned->statistics().in_use_bytes);
  }
};

}  // namespace detail

/// Calls `operation` `warm_up` times, then `repeats` times. Propagates its exceptions. Throws std::invalid_argument if
/// repeats is 0.
template <class Operation>
auto profile_operation(runtime& rt, Operation operation, profile_options const& options = {}) {
  using result_type = std::invoke_result_t<Operation&>;
  using clock = std::chrono::steady_clock;
  if (options.repeats == 0)
    throw std::invalid_argument("profile_operation: repeats is 0; it must be at least 1");
  operation_profile<result_type> p;
  for (std::uint32_t i = 0; i < options.warm_up; ++i) static_cast<void>(operation());
  detail::costs_so_far const before(rt, options.device);
  for (std::uint32_t i = 0; i < options.repeats; ++i) {
    auto const began = clock::now();
    if constexpr (std::is_void_v<result_type>)
      operation();
    else
      p.result.emplace(operation());
    p.times.push_back(clock::now() - began);
  }
  detail::costs_so_far const after(rt, options.device);
  std::ranges::sort(p.times);
  p.host_bytes = after.host_bytes - before.host_bytes;
  p.device_bytes = after.device_bytes - before.device_bytes;
  p.copies = after.copies - before.copies;
  return p;
}

/// One line such as "median 12.3 us (10.1 to 20.0, 5 times); buffers +0 B host, +4096 B device; copies 1 down, 1 up".
std::string to_text(operation_costs const& costs);

}  // namespace rondo
