// The poller drains a device's completions (the upward ring of its queue pair) on one thread.
//
// Threads: `run` on one at a time; `end`, `hold`, `drain`, and the bell from any.
// Ordering: `end` and `drain` release what the caller knows to be in the ring; the poller acquires it before its next
// look.
#pragma once

#include <chrono>

#include "kernels/actor/ring_kernel.hpp"
#include "kernels/base/clock.hpp"
#include "kernels/link/bus_ring.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/queue/doorbell.hpp"

namespace rondo {

template <class Bus = prompt_bus>
class completion_poller {
 public:
  /// `nap_ns`: the longest sleep after spinning in vain.
  completion_poller(bus_ring_ref<device_event, Bus> const& ring, idle_policy idle,
                    std::uint64_t nap_ns) noexcept
      : ring_(ring), idle_(idle), nap_ns_(nap_ns) {}

  /// Wakes the poller. Threads that write completions ring it; for a GPU, threads that expect a completion do.
  doorbell& bell() noexcept { return bell_; }

  /// Passes each completion to `sink` (void(device_event const&)) until `end` was called and none is left.
  template <class Sink>
  void run(Sink const& sink) {
    bus_reader<device_event, Bus> in{ring_};
    idle_thread idle{idle_.spin_ns, idle_.park, nap_ns_};
    for (;;) {
      bool const ending = ending_.load(memory_order::acquire) != 0;  // before the look
      auto const drains = drains_.load(memory_order::acquire);       // likewise
      bool const held = !ending && held_.load(memory_order::relaxed) != 0;
      if (device_event event; !held && in.fetch(event)) {
        sink(event);
        in.advance(1);
        in.publish();
        idle.worked();
        continue;
      }
      bool const drained = !held && !in.was_published();
      if (drained) drained_.store(drains, memory_order::release);
      if (drained && ending) return;
      idle.wait(bell_, held || drained, [&] {
        return ending_.load(memory_order::relaxed) != 0 || drains_.load(memory_order::relaxed) != drains ||
               (held ? held_.load(memory_order::relaxed) == 0 : in.was_published());
      });
    }
  }

  /// Must be called before a run that follows an ended one.
  void begin() noexcept { ending_.store(0, memory_order::relaxed); }
  /// Tells the run to end once it has drained the ring. Precondition: no more completions are written.
  void end() noexcept {
    ending_.store(1, memory_order::release);
    bell_.ring();
  }
  /// Waits until the sink has returned from each completion in the ring; false if that takes longer than
  /// `limit`. Precondition: no completions are written during the call, and the caller is not the sink.
  bool drain(std::chrono::nanoseconds limit) {
    auto const until = now_ns() + static_cast<std::uint64_t>(limit.count());
    auto const number = drains_.fetch_add(1, memory_order::release) + 1;
    bell_.ring();
    // Acquire: what the sink did. Numbers wrap.
    while (static_cast<std::int32_t>(drained_.load(memory_order::acquire) - number) < 0) {
      if (now_ns() > until) return false;
      yield_thread();
    }
    return true;
  }
  /// While held, the poller leaves completions in the ring, until it is ended.
  void hold(bool held) noexcept {
    held_.store(held, memory_order::relaxed);  // relaxed, as its loads: only the value
    bell_.ring();
  }

 private:
  bus_ring_ref<device_event, Bus> ring_;
  idle_policy idle_;
  std::uint64_t nap_ns_;
  doorbell bell_;
  atomic<std::uint32_t> ending_{0}, held_{0};
  atomic<std::uint32_t> drains_{0}, drained_{0};  // numbers of the last requested and the last done
};

}  // namespace rondo
