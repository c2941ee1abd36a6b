// The memory of a graph on one device: the structures that its stages share, and the blocks for frames.
//
// It is laid out on the host and copied to the device as a whole, with pointers that hold there. `lay_out` is therefore
// called twice: once to measure it, once with the addresses.
//
// Threads: one at a time.
#pragma once

#include <functional>
#include <memory_resource>
#include <new>
#include <optional>
#include <vector>

#include "runtime/memory/buffer_pool.hpp"

namespace rondo::streams {

class graph_memory {
 public:
  explicit graph_memory(buffer_pool& pool) : pool_(pool) {}

  /// Makes all structures by `make`, which is called twice. Throws graph_error if the device has no memory.
  void lay_out(std::function<void(graph_memory&)> const& make);

  /// For `make`: room for `count` Ts. The result is on the host, and valid until the next lay_out; `at_device` gives
  /// the address.
  template <class T>
  T* take(std::size_t count = 1) {
    auto const offset = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
    used_ = offset + count * sizeof(T);
    return static_cast<T*>(place(offset, count * sizeof(T), alignof(T)));
  }
  /// The address on the device of what `take` has returned.
  template <class T>
  T* at_device(T* on_host) const {
    if (on_host == nullptr || !is_final_) return nullptr;
    return reinterpret_cast<T*>(base_ + (reinterpret_cast<std::byte*>(on_host) - image_.data()));
  }
  /// Copies everything to the device, or only from `first` to `last`, both from `take`.
  void write();
  void write(void const* first, void const* last);
  /// Copies from `first` to `last` from the device.
  void read(void* first, void* last);

  /// Copies to the device.
  void copy(std::byte* to, std::byte const* from, std::uint64_t bytes);
  /// Copies from the device. Both throw graph_error if it is lost.
  void copy_back(std::byte* to, std::byte const* from, std::uint64_t bytes);

  /// A block of frames, or of scratch memory, zeroed if `zero`: its address on the device.
  std::byte* block(std::uint64_t bytes, bool zero = false);
  buffer_pool& pool() const noexcept { return pool_; }
  std::uint64_t block_bytes() const noexcept { return block_bytes_; }

 private:
  /// Throws graph_error, which names the limits and their values.
  buffer acquire(std::uint64_t bytes);
  void* place(std::size_t offset, std::size_t bytes, std::size_t alignment);

  buffer_pool& pool_;
  std::optional<buffer> structures_;
  std::vector<buffer> blocks_;
  std::size_t next_block_ = 0;  // in the second pass, those of the first come again
  std::vector<std::byte*> block_addresses_;
  std::pmr::monotonic_buffer_resource measuring_;
  std::vector<std::byte> image_;
  std::byte* base_ = nullptr;
  std::size_t used_ = 0;
  std::uint64_t block_bytes_ = 0;
  bool is_final_ = false;
};

}  // namespace rondo::streams
