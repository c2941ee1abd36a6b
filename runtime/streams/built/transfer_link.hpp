// The host's part of a transfer: takes frames from an outlet on one device, and brings them to an inlet on another one.
//
// Threads: `run` on one thread, which it blocks while it copies; the counts from any.
#pragma once

#include <atomic>

#include "kernels/streams/transfer.hpp"
#include "runtime/memory/buffer_home.hpp"
#include "runtime/messaging/messages_ref.hpp"

namespace rondo::streams {

/// Refs to the two ends, of which there is one kind each.
using outlet_ref = messages_ref<ask<next_frame, frame_note>>;
using inlet_ref = messages_ref<ask<next_block, block_note>, frame_arrived, stop_source>;

/// Copies `bytes` between two devices; a null home is the host's memory. By way of the host if neither is. False: a
/// device is lost.
bool copy_between(buffer_home* from_home, std::byte const* from, buffer_home* to_home, std::byte* to,
                  std::uint64_t bytes);

class transfer_link {
 public:
  transfer_link(outlet_ref from, buffer_home* from_home, inlet_ref to, buffer_home* to_home)
      : from_(from), to_(to), from_home_(from_home), to_home_(to_home) {}

  /// Moves frames until the outlet has ended or an actor is gone. Then the inlet ends, too.
  error_code run();

  std::uint64_t copies() const noexcept { return copies_.load(std::memory_order_relaxed); }
  std::uint64_t copy_ns() const noexcept { return copy_ns_.load(std::memory_order_relaxed); }

 private:
  outlet_ref from_;
  inlet_ref to_;
  buffer_home* from_home_;
  buffer_home* to_home_;
  std::atomic<std::uint64_t> copies_{0}, copy_ns_{0};  // relaxed: numbers to be shown
};

}  // namespace rondo::streams
