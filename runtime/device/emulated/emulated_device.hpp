// The `emulated` device: the test double of `cuda`. Everything but that device's machine runs here, on host threads.
#pragma once

#include "runtime/device/emulated/emulated_machine.hpp"

namespace rondo {

class emulated_device final : public queue_device<emulated_machine> {
 public:
  emulated_device(emulated_program const& program, arena_shape const& shape,
                  queue_device_options const& options, std::uint32_t lanes_per_team,
                  emulation_options const& emulation)
      : queue_device(shape, options, program, lanes_per_team, emulation) {}

  /// The teams' arena; for tests.
  arena_ref arena() const noexcept { return device_arena(); }

  /// Makes copies of buffers take as long as on a bus of this kind, at least. The thread that copies sleeps.
  /// Precondition: nothing is being copied, so before the program uses the device.
  void model_bus(bus_model const& model) noexcept { machine().model_bus(model); }

  // -- faults for tests, from any thread between start and stop

  /// Makes the device lost, as by a GPU fault: each team is reported with event_kind::device_lost, and submissions
  /// complete with errc::device_lost.
  void lose() noexcept { machine().lose(); }
  /// While held, submissions do not arrive and the ring fills up, until the device stops.
  void hold_submissions(bool held) noexcept {
    machine().hold_submissions(held);
    queues().io_bell().ring();
  }
  /// The same for the poller and the completion ring.
  void hold_completions(bool held) noexcept { queues().poller().hold(held); }
};

}  // namespace rondo
