// Refuses on the host the submissions that a device has left in a ring.
//
// Threads: one at a time, when the device no longer reads the ring.
#pragma once

#include "kernels/grid/io_team.hpp"
#include "runtime/device/device.hpp"

namespace rondo {

/// Completes every submission of a closed ring with `reason`, by `sink`. Waits for those that their senders are still
/// writing.
template <class Bus>
void refuse_all(bus_ring_ref<submission, Bus> const& ring, event_sink& sink, errc reason) {
  host_port const to_sink{
      &sink, [](void* to, device_event const& r) { (*static_cast<event_sink*>(to))(r); }, {}};
  io_window window;
  submission_reader<> left{
      {ring.slots, ring.progress, ring.writers, ring.slot_count}, to_sink, team{0}, window};
  while (left.head() < ring.tail())
    if (!left.refuse_next(reason)) yield_thread();
}

}  // namespace rondo
