// A buffer's handle, which travels in messages, and the view of its elements under a lease.
#pragma once

#include <type_traits>

#include "kernels/base/portable.hpp"

namespace rondo {

/// The kind of memory that holds a buffer's bytes.
enum class place : std::uint32_t { host, pinned_host, device };

/// The bits above a slot's number in its table name the table's memory: 0 is the host's, n that of device n - 1.
inline constexpr int buffer_home_shift = 24;

/// A handle to a range of a buffer. It travels in message payloads and does not own the buffer.
struct buffer_ref {
  std::uint32_t slot;        // in its table, with the home above; see buffer_home_shift
  std::uint32_t generation;  // 0: refers to nothing
  std::uint64_t offset;      // in bytes, from the buffer's start
  std::uint64_t bytes;       // of the range

  /// `length` bytes from `start` of this range. If they lie outside it, each use of the slice and of its slices
  /// fails with buffer_out_of_bounds.
  RONDO_HD constexpr buffer_ref slice(std::uint64_t start, std::uint64_t length) const noexcept {
    if (start > bytes || length > bytes - start) return {slot, generation, ~0ull, 0};
    return {slot, generation, offset + start, length};
  }
  friend constexpr bool operator==(buffer_ref const&, buffer_ref const&) = default;
};
static_assert(sizeof(buffer_ref) == 24 && std::is_trivially_copyable_v<buffer_ref>);

/// A non-owning view of elements in place. Valid as long as the lease under which it was made.
template <class T>
struct buffer_view {
  T* first = nullptr;       // the first element
  std::uint64_t count = 0;  // number of elements

  /// The first element.
  RONDO_HD constexpr T* data() const noexcept { return first; }
  /// The number of elements.
  RONDO_HD constexpr std::uint64_t size() const noexcept { return count; }
  /// The first element.
  RONDO_HD constexpr T* begin() const noexcept { return first; }
  /// Behind the last element.
  RONDO_HD constexpr T* end() const noexcept { return first + count; }
  /// Precondition: `index < size()`.
  RONDO_HD constexpr T& operator[](std::uint64_t index) const noexcept { return first[index]; }
};

}  // namespace rondo
