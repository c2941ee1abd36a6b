// The owner of one buffer of a pool: move-only; releases the buffer in its destructor.
//
// **Threads**: one at a time, any. **Lifetime**: shorter than the pool's.
#pragma once

#include <cassert>
#include <span>
#include <utility>

#include "kernels/buffers/buffer.hpp"

namespace rondo {

class buffer_pool;

/// Made by buffer_pool::acquire_buffer and adopt. Empty after a move, `detach`, or `release`.
class buffer {
 public:
  buffer() = default;
  /// Takes the buffer over.
  buffer(buffer&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), base_(other.base_), ref_(std::exchange(other.ref_, {})) {}
  /// Releases its own buffer and takes the other one over.
  buffer& operator=(buffer&& other) noexcept {
    buffer(std::move(other)).swap(*this);
    return *this;
  }
  /// Releases the buffer.
  ~buffer();

  /// Whether it owns a buffer.
  explicit operator bool() const noexcept { return pool_ != nullptr; }

  /// The handle to send in messages. It is valid as long as the buffer is owned.
  buffer_ref const& ref() const noexcept { return ref_; }
  /// The size that was asked for.
  std::uint64_t bytes() const noexcept { return ref_.bytes; }
  /// The kind of memory that holds it.
  place where() const noexcept;

  /// The owner's direct access to as many whole Ts as fit, for filling the buffer before its handle is shared;
  /// after that, take a lease. Empty if the host cannot reach the memory.
  template <class T = std::byte>
  std::span<T> span() const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!pool_ || !base_) return {};
    assert(reinterpret_cast<std::uintptr_t>(base_) % alignof(T) == 0);
    return {reinterpret_cast<T*>(base_), static_cast<std::size_t>(ref_.bytes / sizeof(T))};
  }

  /// Releases the buffer now. If there are leases, its memory is returned at the end of the last one. double_release if
  /// the buffer was already released through its handle, or if this is empty.
  errc release() noexcept;

  /// Gives up ownership without releasing the buffer: the receiver of the handle must adopt or release it.
  [[nodiscard]] buffer_ref detach() noexcept {
    pool_ = nullptr;
    return std::exchange(ref_, {});
  }

 private:
  friend buffer_pool;
  buffer(buffer_pool& pool, std::byte* base, buffer_ref ref) noexcept
      : pool_(&pool), base_(base), ref_(ref) {}
  void swap(buffer& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(base_, other.base_);
    std::swap(ref_, other.ref_);
  }

  buffer_pool* pool_ = nullptr;
  std::byte* base_ = nullptr;
  buffer_ref ref_{};  // refers to nothing if pool_ is null
};

}  // namespace rondo
