// Bytes that the host and one device share: which side has the newest, and when they are copied. What unified_buffer.hpp
// gives elements and views.
//
// A copy happens when a side is needed that is older; `prefetch` begins it earlier, beside whatever the program does
// meanwhile; `sync_all` makes one batch of several. Where both sides are one memory (a device `cpu`) there is nothing to copy.
//
// Threads: one at a time, any; the copy that a prefetch has begun runs on the copier's. Lifetime: shorter than the runtime's.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>

#include "runtime/memory/buffer_pool.hpp"

namespace rondo {

enum class buffer_state : std::uint8_t {
  uninitialized,
  host_only,
  device_only,
  synchronized,
  host_dirty,
  device_dirty
};

enum class side : std::uint8_t { host, device };

/// Copies between the host and one device so far.
struct transfer_counts {
  std::uint64_t to_device = 0, to_host = 0;  // copies
  std::uint64_t bytes = 0;
  std::uint64_t batches = 0;    // calls of the machine that these took
  std::uint64_t hidden_ns = 0;  // of prefetched copies: how long nobody had to wait for them

  friend transfer_counts operator-(transfer_counts a, transfer_counts const& b) noexcept {
    return {a.to_device - b.to_device, a.to_host - b.to_host, a.bytes - b.bytes, a.batches - b.batches,
            a.hidden_ns - b.hidden_ns};
  }
};

/// The memory that a program and the handlers of one device share data in: runtime::memory.
struct memory_pair {
  struct counters {
    std::atomic<std::uint64_t> to_device{0}, to_host{0}, bytes{0}, batches{0}, hidden_ns{0};
    transfer_counts read() const noexcept;
  };
  buffer_pool* host = nullptr;
  buffer_pool* device = nullptr;  // the same as `host` when they are one memory
  counters* counts = nullptr;
  boost::asio::any_io_executor copier{};  // for copies that nobody waits for
  buffer_pool* pinned = nullptr;          // of the host, for faster copies; used while it lasts

  bool is_one() const noexcept { return host == device; }
};

class two_sided {
 public:
  two_sided() = default;
  /// Claims nothing yet. More bytes than a number can hold are refused by whatever claims them (pool_exhausted).
  two_sided(memory_pair const& memory, std::span<std::uint64_t const> shape, std::uint64_t element_bytes);
  two_sided(two_sided&& other) noexcept { *this = std::move(other); }
  /// Precondition, also of the constructor and the destructor: no view is there.
  two_sided& operator=(two_sided&& other) noexcept;
  /// Waits for a copy that was begun.
  ~two_sided();

  std::uint64_t bytes() const noexcept { return bytes_; }
  buffer_state state() const noexcept { return state_; }
  memory_pair const& memory() const noexcept { return memory_; }

  /// Makes that side hold the newest; copies only if it is older. Errors: buffer_empty before anything was written,
  /// buffer_in_use while the host's view writes, those of buffer_pool::acquire, device_lost.
  error_code sync(side to) { return is_ready(to) ? error_code{} : bring(to); }
  /// Begins the copy that `sync` would make, without waiting for it; what needs either side next waits. Errors as `sync`
  /// but device_lost, which the next sync tells, also of a copy that threw.
  error_code prefetch(side to);

  /// A handler has written, or will, through a handle that was given out for reading; or the host has.
  void mark_device_dirty() noexcept {
    state_ = memory_.is_one() ? buffer_state::synchronized
             : host_          ? buffer_state::device_dirty
                              : buffer_state::device_only;
  }
  void mark_host_dirty() noexcept {
    state_ = memory_.is_one() ? buffer_state::synchronized
             : device_        ? buffer_state::host_dirty
                              : buffer_state::host_only;
  }
  /// Gives the host's block back, when the device has the data; no effect where they are one. Errors as `sync`; buffer_in_use
  /// while any view of the host is there.
  error_code drop_host();

  friend error_code sync_all(side to, std::span<two_sided* const> all);

  /// Held by a view of the host: while it lives the host's block stays, and while one lives that writes no copy is made.
  class viewing {
   public:
    viewing() = default;
    viewing(two_sided& what, bool writes) noexcept
        : writers_(writes ? &what.busy_ : nullptr), views_(&what.views_) {
      ++*views_;
      if (writers_ != nullptr) ++*writers_;
    }
    viewing(viewing&& other) noexcept { *this = std::move(other); }
    viewing& operator=(viewing&& other) noexcept {
      std::swap(writers_, other.writers_);
      std::swap(views_, other.views_);
      return *this;
    }
    ~viewing() {
      if (views_ != nullptr) --*views_;
      if (writers_ != nullptr) --*writers_;
    }

   private:
    std::uint32_t *writers_ = nullptr, *views_ = nullptr;
  };

 protected:
  /// Whether that side can be used at once: the common case, so it is short.
  bool is_ready(side to) const noexcept { return is_current(to) && busy_ == 0; }
  error_code bring(side to);
  /// Makes sure that there is a block to write all of, and nobody who uses it. Errors as `sync` but buffer_empty.
  error_code claim_to_overwrite(side of) {
    if (auto const e = wait_for_background()) return e;
    if (busy_ != 0) return errc::buffer_in_use;  // by a view that writes: nothing else is left
    return claim(of);
  }
  buffer const& host_side() const noexcept { return host_; }
  buffer const& device_side() const noexcept { return memory_.is_one() ? host_ : device_; }

 private:
  /// The one copy that may be under way beside the program.
  struct background_copy {
    std::mutex mutex;
    std::condition_variable ended;
    bool began = false;  // of the program's side alone: somebody is to wait for it
    bool running = false, arrived = false;
    side to{};
    std::uint64_t took_ns = 0;
  };

  bool is_current(side s) const noexcept {
    return state_ == buffer_state::synchronized ||
           (s == side::host ? state_ == buffer_state::host_only || state_ == buffer_state::host_dirty
                            : state_ == buffer_state::device_only || state_ == buffer_state::device_dirty);
  }
  error_code claim(side of);
  /// Whether `to` needs a copy, and its block claimed; errors as `sync`.
  error_code prepare(side to, bool& older);
  copy_job job(side to) noexcept;
  void arrived(side to) noexcept;
  error_code wait_for_background() noexcept;

  memory_pair memory_;
  std::uint64_t bytes_ = 0;
  buffer host_, device_;  // where both are one memory, `host_` alone
  buffer_state state_ = buffer_state::uninitialized;
  std::uint32_t busy_ = 0;   // views that write, and a copy that was begun
  std::uint32_t views_ = 0;  // of the host
  std::unique_ptr<background_copy> background_;
};

/// Brings all of `all` to one side, in one batch of copies for each device. Errors of the first that cannot be; nothing was
/// copied then.
error_code sync_all(side to, std::span<two_sided* const> all);

template <class... Data>
error_code sync_to_device(Data&... data) {
  two_sided* const all[] = {&data...};
  return sync_all(side::device, all);
}
template <class... Data>
error_code sync_to_host(Data&... data) {
  two_sided* const all[] = {&data...};
  return sync_all(side::host, all);
}

}  // namespace rondo
