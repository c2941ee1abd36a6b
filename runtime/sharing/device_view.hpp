// Another process's memory on a device, as an importer reaches it. What opens it belongs to the device
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
  /// An address of the device.
  virtual std::byte const* base() const noexcept = 0;
  /// Waits until what was exported last is there. False: the device has faulted.
  virtual bool wait_ready() noexcept = 0;
  /// Copies to the host, and waits for it. False: the device has faulted.
  virtual bool copy_out(std::byte* to, std::byte const* from, std::uint64_t bytes) noexcept = 0;
};

/// What an importer has to open a device's memory with; empty when it has none.
struct device_opener {
  std::array<std::byte, 16> identity{};  // of the device: another one's memory is not offered
  /// Takes what an exporter shares; the descriptor stays the caller's. Null when it cannot: those buffers are elsewhere then.
  std::function<std::unique_ptr<device_view>(device_share const&)> open{};

  explicit operator bool() const noexcept { return open != nullptr; }
};

}  // namespace rondo
