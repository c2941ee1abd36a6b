// What an operation costs: time, memory and copies, with warm-up and repeats.
//
//   auto const p = rondo::profile_operation(rt, [&] { return worker.ask(work{}, 1s, rondo::block); });
//   fmt::print("{}\n", rondo::to_text(p));
//
// Times are of the host's steady clock, around the whole call: what a caller waits for, on every device. Threads: one; what
// else uses the runtime meanwhile is counted, too.
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

struct profile_options {
  std::uint32_t device = 0;   // whose buffers and copies are looked at
  std::uint32_t warm_up = 1;  // calls that are not counted
  std::uint32_t repeats = 5;  // calls that are; at least 1
};

struct operation_costs {
  std::vector<std::chrono::nanoseconds> times;  // of each repeat, shortest first
  /// Bytes of buffers in use after the repeats less those before: what the operation keeps, or gives back.
  std::int64_t host_bytes = 0, device_bytes = 0;
  transfer_counts copies;  // in all repeats

  std::chrono::nanoseconds fastest() const { return times.front(); }
  std::chrono::nanoseconds slowest() const { return times.back(); }
  std::chrono::nanoseconds median() const { return times[times.size() / 2]; }
};

/// With the last call's result; none for an operation that returns nothing.
template <class Result>
struct operation_profile : operation_costs {
  std::optional<Result> result;
};
template <>
struct operation_profile<void> : operation_costs {};

namespace detail {

/// The counters that a profile is the difference of.
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

/// Calls `operation` warm_up times, then `repeats` times. Lets what it throws through. Throws std::invalid_argument for no
/// repeats.
template <class Operation>
auto profile_operation(runtime& rt, Operation operation, profile_options const& options = {}) {
  using result_type = std::invoke_result_t<Operation&>;
  using clock = std::chrono::steady_clock;
  if (options.repeats == 0)
    throw std::invalid_argument("profile_operation: repeats is 0; measure at least once");
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

/// One line: "median 12.3 us (10.1 to 20.0, 5 times); buffers +0 B host, +4096 B device; copies 1 down, 1 up".
std::string to_text(operation_costs const& costs);

}  // namespace rondo
