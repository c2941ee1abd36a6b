// Memory of a device for buffers that its handlers lease: the host acquires and releases them from afar.
//
// The table of such buffers lives in the device's memory, because a lease is an exchange, and nothing but loads and stores
// crosses the bus (kernels/link/queue_pair.hpp). So the host's orders travel as submissions, in order with its messages; when a
// buffer was released and its last lease has ended the device says so (record_kind::buffer_free).
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

/// By what another process reaches a device's memory in place: runtime/device/cuda/cuda_view.hpp opens it.
struct device_share {
  int pool = -1;                         // a descriptor, of the home
  std::array<std::byte, 64> memory{};    // opaque: where in the pool base() is
  std::array<std::byte, 64> ready{};     // opaque: an event
  std::array<std::byte, 16> identity{};  // of the device: the same in all processes
};

/// Threads: any, but for host_memory.
class buffer_home {
 public:
  virtual ~buffer_home() = default;

  /// Addresses on the device; the host must not touch them. Aligned to 4 KiB.
  virtual std::byte* base() const noexcept = 0;
  virtual std::uint64_t bytes() const noexcept = 0;
  virtual std::uint32_t slots() const noexcept = 0;

  /// From now on handlers may lease it. Errors: device_busy (try again), device_lost, stopped.
  virtual errc open(buffer_ref ref, std::byte* at) noexcept = 0;
  /// No new leases. Errors as `open`.
  virtual errc close(buffer_ref ref) noexcept = 0;
  /// Has the device look for buffers that became free, if it sleeps.
  virtual void collect() noexcept = 0;

  /// Copies all of `jobs`, in any order and as few steps as the machine can, and waits for the end of it. False: the device
  /// is lost.
  virtual bool copy(std::span<copy_job const> jobs) = 0;
  /// Memory of the host from which copies are fastest (pinned), claimed at the device's start; `pinned_bytes` of it. Threads:
  /// one at a time.
  virtual std::pmr::memory_resource& host_memory() noexcept = 0;
  virtual std::uint64_t host_memory_bytes() const noexcept = 0;

  /// None where other processes cannot reach this memory.
  virtual std::optional<device_share> share() noexcept { return std::nullopt; }
  /// The event of `share` comes after all copies made here so far. False: the device is lost.
  virtual bool mark_ready() { return false; }
};

}  // namespace rondo
