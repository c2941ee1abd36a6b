// The home of buffers in a device's memory, which its handlers lease; the host acquires and releases them remotely.
//
// The table of such buffers is in the device's memory, because a lease is an exchange, and only loads and stores cross
// the bus (kernels/link/queue_pair.hpp). So the host's orders travel as submissions, in order with its messages. When a
// buffer has been released and its last lease has ended, the device notifies the host (event_kind::buffer_free).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>

#include "kernels/base/status.hpp"
#include "kernels/buffers/buffer_ref.hpp"

namespace rondo {

/// One copy between the host and a device.
struct copy_job {
  std::byte* to;
  std::byte const* from;
  std::uint64_t bytes;
  bool to_device;
};

/// The data with which another process maps a device's memory: runtime/device/cuda/cuda_view.hpp opens it.
struct device_share {
  int pool = -1;                         // a descriptor that the home owns
  std::array<std::byte, 64> memory{};    // opaque: the position of base() in the pool
  std::array<std::byte, 64> ready{};     // opaque: an event
  std::array<std::byte, 16> identity{};  // of the device; the same in all processes
};

/// Threads: any, except for host_memory.
class buffer_home {
 public:
  virtual ~buffer_home() = default;

  /// An address on the device, aligned to 4 KiB; the host must not dereference it.
  virtual std::byte* base() const noexcept = 0;
  virtual std::uint64_t bytes() const noexcept = 0;
  virtual std::uint32_t slots() const noexcept = 0;

  /// Opens the buffer for leases. Errors: device_busy (try again), device_lost, stopped.
  virtual errc open(buffer_ref ref, std::byte* at) noexcept = 0;
  /// Closes the buffer for new leases. Errors as `open`.
  virtual errc close(buffer_ref ref) noexcept = 0;
  /// Wakes the device, if it sleeps, to look for buffers that became free.
  virtual void collect() noexcept = 0;

  /// Copies all of `jobs`, in any order and in as few steps as the machine allows, and waits until they are done.
  /// False: the device is lost.
  virtual bool copy(std::span<copy_job const> jobs) = 0;
  /// Host memory from which copies are fastest (pinned): `pinned_bytes`, allocated at the device's start. Threads: one
  /// at a time.
  virtual std::pmr::memory_resource& host_memory() noexcept = 0;
  virtual std::uint64_t host_memory_bytes() const noexcept = 0;

  /// nullopt if other processes cannot reach this memory.
  virtual std::optional<device_share> share() noexcept { return std::nullopt; }
  /// Records the event of `share` after all copies made here so far. False: the device is lost.
  virtual bool mark_ready() { return false; }
};

}  // namespace rondo
