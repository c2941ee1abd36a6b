// An importer's view of another process's memory on a device. The device's code opens it
// (runtime/device/cuda/cuda_view.hpp).
#pragma once

#include <functional>
#include <memory>

#include "runtime/memory/buffer_home.hpp"

namespace rondo {

/// Threads: any.
class device_view {
 public:
  virtual ~device_view() = default;
  /// An address on the device.
  virtual std::byte const* base() const noexcept = 0;
  /// Waits until the last export is complete. False: the device has faulted.
  virtual bool wait_ready() noexcept = 0;
  /// Copies to the host and waits until the copy is done. False: the device has faulted.
  virtual bool copy_out(std::byte* to, std::byte const* from, std::uint64_t bytes) noexcept = 0;
};

/// An importer's means to open a device's memory; empty if it has none.
struct device_opener {
  std::array<std::byte, 16> identity{};  // of the device; memory of other devices is not offered
  /// Opens the memory that an exporter shares; the caller keeps the descriptor. Null if it fails: leases of those
  /// buffers then fail with buffer_elsewhere.
  std::function<std::unique_ptr<device_view>(device_share const&)> open{};

  /// Whether it can open memory.
  explicit operator bool() const noexcept { return open != nullptr; }
};

}  // namespace rondo
