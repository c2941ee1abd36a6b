// The device `emulated`: the test double of `cuda`. All of that device but its machine runs here, on host threads.
#pragma once

#include "runtime/device/emulated/emulated_machine.hpp"

namespace rondo {

class emulated_device final : public queue_device<emulated_machine> {
 public:
  emulated_device(emulated_program const& program, arena_shape const& shape,
                  queue_device_options const& options, std::uint32_t lanes_per_team,
                  emulation_options const& emulation)
      : queue_device(shape, options, program, lanes_per_team, emulation) {}

  /// The arena that the teams run on; for tests.
  arena_ref arena() const noexcept { return device_arena(); }

  // -- faults for tests; from any thread, between start and stop

  /// The device is lost, as by a fault of a GPU: each team is reported with record_kind::device_lost, and what was
  /// submitted ends with errc::device_lost.
  void lose() noexcept { machine().lose(); }
  /// Nothing that is submitted arrives until it is let go, or the device stops: the ring fills up.
  void hold_submissions(bool held) noexcept {
    machine().hold_submissions(held);
    queues().io_bell().ring();
  }
  /// The same for the poller and the completion ring.
  void hold_completions(bool held) noexcept { queues().poller().hold(held); }
};

}  // namespace rondo
