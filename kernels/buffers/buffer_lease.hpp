// Leases that end with their scope: `read_lease<T>` shares a buffer, `write_lease<T>` has it alone.
//
// **Threads**: a lease belongs to one thread at a time; on a device one lane of a team holds it for all. It
// may outlive the buffer's owner, never the pool.
#pragma once

#include "kernels/buffers/buffer.hpp"

namespace rondo {

/// Holds a range of a buffer as Ts for as long as it lives: shared if T is const, alone if not.
template <class T>
class buffer_lease {
  static constexpr bool shared = std::is_const_v<T>;

 public:
  /// Holds nothing.
  buffer_lease() = default;
  /// Tries to lease; `status` says what came of it, and only ok holds anything. Never blocks.
  RONDO_HD buffer_lease(buffer_table_ref table, buffer_ref ref) noexcept : table_(table), ref_(ref) {
    if constexpr (shared)
      status_ = table_.try_read(ref_, view_);
    else
      status_ = table_.try_write(ref_, view_);
  }
  RONDO_HD buffer_lease(buffer_lease&& other) noexcept
      : table_(other.table_), ref_(other.ref_), view_(other.view_), status_(other.status_) {
    other.forget();
  }
  RONDO_HD buffer_lease& operator=(buffer_lease&& other) noexcept {
    if (this == &other) return *this;
    end();
    table_ = other.table_, ref_ = other.ref_, view_ = other.view_, status_ = other.status_;
    other.forget();
    return *this;
  }
  RONDO_HD ~buffer_lease() { end(); }

  /// ok; stale_buffer, buffer_in_use or buffer_out_of_bounds, see buffer_table_ref::try_read; stale_buffer
  /// once ended.
  RONDO_HD errc status() const noexcept { return status_; }
  RONDO_HD explicit operator bool() const noexcept { return status_ == errc::ok; }

  /// The elements; none unless `status` is ok.
  RONDO_HD buffer_view<T> view() const noexcept { return view_; }

  /// Ends the lease now, if there is one.
  RONDO_HD void end() noexcept {
    if (status_ != errc::ok) return;
    if constexpr (shared)
      table_.end_read(ref_);
    else
      table_.end_write(ref_);
    forget();
  }

 private:
  RONDO_HD void forget() noexcept {
    view_ = {};
    status_ = errc::stale_buffer;
  }

  buffer_table_ref table_{};
  buffer_ref ref_{};
  buffer_view<T> view_{};
  errc status_ = errc::stale_buffer;
};

template <class T = std::byte>
using read_lease = buffer_lease<T const>;
template <class T = std::byte>
using write_lease = buffer_lease<T>;

}  // namespace rondo
