// The handle of a buffer, as it travels in a message, and the view of its elements under a lease.
#pragma once

#include <type_traits>

#include "kernels/base/portable.hpp"

namespace rondo {

/// The kind of memory that a buffer's bytes live in.
enum class place : std::uint32_t { host, pinned_host, device };

/// Above a slot's number in its table stands which memory that table is of: 0 is the host's, n the memory of device n - 1.
inline constexpr int buffer_home_shift = 24;

/// A handle to a range of a buffer. Travels in message payloads; says nothing about who owns the buffer.
struct buffer_ref {
  std::uint32_t slot;        // with its home
  std::uint32_t generation;  // 0: refers to nothing
  std::uint64_t offset;      // in bytes, from the buffer's start
  std::uint64_t bytes;

  /// `length` bytes from `start` of this range. A slice outside this range fails at each use with
  /// buffer_out_of_bounds, and so do its slices.
  RONDO_HD constexpr buffer_ref slice(std::uint64_t start, std::uint64_t length) const noexcept {
    if (start > bytes || length > bytes - start) return {slot, generation, ~0ull, 0};
    return {slot, generation, offset + start, length};
  }
  friend constexpr bool operator==(buffer_ref const&, buffer_ref const&) = default;
};
static_assert(sizeof(buffer_ref) == 24 && std::is_trivially_copyable_v<buffer_ref>);

/// Elements in place, with their count. Does not own; valid as long as the lease it was made under.
template <class T>
struct buffer_view {
  T* first = nullptr;
  std::uint64_t count = 0;

  RONDO_HD constexpr T* data() const noexcept { return first; }
  RONDO_HD constexpr std::uint64_t size() const noexcept { return count; }
  RONDO_HD constexpr T* begin() const noexcept { return first; }
  RONDO_HD constexpr T* end() const noexcept { return first + count; }
  /// Precondition: `index < size()`.
  RONDO_HD constexpr T& operator[](std::uint64_t index) const noexcept { return first[index]; }
};

}  // namespace rondo
