// Scoped leases: `read_lease<T>` shares a buffer, `write_lease<T>` holds it exclusively.
//
// **Threads**: a lease belongs to one thread at a time; on a device, one lane of a team holds it for all. It
// may outlive the buffer's owner, but not the pool.
#pragma once

#include "kernels/buffers/buffer.hpp"

namespace rondo {

/// Holds a range of a buffer as Ts during its lifetime: shared if T is const, otherwise exclusively.
template <class T>
class buffer_lease {
  static constexpr bool shared = std::is_const_v<T>;

 public:
  /// Holds nothing.
  buffer_lease() = default;
  /// Tries to take a lease; `status` has the outcome, and only ok holds a lease. Never blocks.
  RONDO_HD buffer_lease(buffer_table_ref table, buffer_ref ref) noexcept : table_(table), ref_(ref) {
    if constexpr (shared)
      status_ = table_.try_read(ref_, view_);
    else
      status_ = table_.try_write(ref_, view_);
  }
  /// Takes the lease over.
  RONDO_HD buffer_lease(buffer_lease&& other) noexcept
      : table_(other.table_), ref_(other.ref_), view_(other.view_), status_(other.status_) {
    other.forget();
  }
  /// Ends its own lease and takes the other one over.
  RONDO_HD buffer_lease& operator=(buffer_lease&& other) noexcept {
    if (this == &other) return *this;
    end();
    table_ = other.table_, ref_ = other.ref_, view_ = other.view_, status_ = other.status_;
    other.forget();
    return *this;
  }
  /// Ends the lease.
  RONDO_HD ~buffer_lease() { end(); }

  /// ok, or an error of buffer_table_ref::try_read or try_write; stale_buffer after `end`.
  RONDO_HD errc status() const noexcept { return status_; }
  /// Whether it holds a lease.
  RONDO_HD explicit operator bool() const noexcept { return status_ == errc::ok; }

  /// The elements; empty unless `status` is ok.
  RONDO_HD buffer_view<T> view() const noexcept { return view_; }

  /// Releases the lease now, if there is one.
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

/// A shared lease for reading.
template <class T = std::byte>
using read_lease = buffer_lease<T const>;
/// An exclusive lease for writing.
template <class T = std::byte>
using write_lease = buffer_lease<T>;

}  // namespace rondo
