// Bytes shared by the host and one device: tracks which side has the newest data, and copies when needed.
// unified_buffer.hpp adds elements and views.
//
// A copy is made when an outdated side is needed. `prefetch` begins it earlier, in the background; `sync_all` makes one
// batch of several copies. If both sides share one memory (a `cpu` device), there is nothing to copy.
//
// Threads: any, one at a time; a prefetched copy runs on the copier's thread. Lifetime: must not outlive the runtime.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>

#include "runtime/memory/buffer_pool.hpp"
#include "runtime/os/own_threads.hpp"

namespace rondo {

/// Which side holds the current data; runtime/memory/unified_buffer.hpp lists them.
enum class buffer_state : std::uint8_t {
  uninitialized,
  host_only,
  device_only,
  synchronized,
  host_dirty,
  device_dirty
};

/// The two sides of a buffer.
enum class side : std::uint8_t { host, device };

/// Copies between the host and one device so far.
struct transfer_counts {
  std::uint64_t to_device = 0;  // copies
  std::uint64_t to_host = 0;    // copies
  std::uint64_t bytes = 0;      // copied either way
  std::uint64_t batches = 0;    // machine calls that these took
  std::uint64_t hidden_ns = 0;  // time of prefetched copies for which no thread had to wait

  /// What was copied since `b`.
  friend transfer_counts operator-(transfer_counts a, transfer_counts const& b) noexcept {
    return {a.to_device - b.to_device, a.to_host - b.to_host, a.bytes - b.bytes, a.batches - b.batches,
            a.hidden_ns - b.hidden_ns};
  }
};

/// The memory through which a program and the handlers of one device share data; from runtime::memory.
struct memory_pair {
  /// See transfer_counts.
  struct counters {
    std::atomic<std::uint64_t> to_device{0};  // copies
    std::atomic<std::uint64_t> to_host{0};    // copies
    std::atomic<std::uint64_t> bytes{0};      // copied either way
    std::atomic<std::uint64_t> batches{0};    // machine calls
    std::atomic<std::uint64_t> hidden_ns{0};  // for which no thread had to wait
    /// The current numbers.
    transfer_counts read() const noexcept;
  };
  buffer_pool* host = nullptr;            // the host's side
  buffer_pool* device = nullptr;          // equals `host` if both sides share one memory
  counters* counts = nullptr;             // count the copies
  boost::asio::any_io_executor copier{};  // runs background copies
  buffer_pool* pinned = nullptr;          // pinned host memory, for faster copies; used while there is room
  own_threads const* copier_threads = nullptr;  // for `block`

  /// Whether both sides share one memory.
  bool is_one() const noexcept { return host == device; }
};

class two_sided {
 public:
  two_sided() = default;
  /// Allocates nothing yet. If the size overflows 64 bits, the first allocation fails (pool_exhausted).
  two_sided(memory_pair const& memory, std::span<std::uint64_t const> shape, std::uint64_t element_bytes);
  /// Takes the sides over.
  two_sided(two_sided&& other) noexcept { *this = std::move(other); }
  /// Precondition, also of the move constructor and the destructor: there is no view.
  two_sided& operator=(two_sided&& other) noexcept;
  /// Waits for a background copy.
  ~two_sided();

  /// The size of a side.
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Which side holds the current data.
  buffer_state state() const noexcept { return state_; }
  /// Where the sides are.
  memory_pair const& memory() const noexcept { return memory_; }
  /// For `block`.
  friend own_threads const* threads_of(two_sided const* s) noexcept { return s->memory_.copier_threads; }

  /// Brings that side up to date; copies only if it is outdated. Errors: buffer_empty before anything was written,
  /// buffer_in_use while there is a writing view on the host, those of buffer_pool::acquire, device_lost.
  error_code sync(side to) { return is_ready(to) ? error_code{} : bring(to); }
  /// Begins the copy that `sync` would make, without waiting for it; the next use of either side waits. Errors as
  /// `sync`, except device_lost: the next sync returns that, also if the copy threw.
  error_code prefetch(side to);

  /// Marks that side as newer. For writes that this object does not see: by handlers through a handle that was given
  /// out for reading, or by the host.
  void mark_device_dirty() noexcept {
    state_ = memory_.is_one() ? buffer_state::synchronized
             : host_          ? buffer_state::device_dirty
                              : buffer_state::device_only;
  }
  /// The same for the host's side.
  void mark_host_dirty() noexcept {
    state_ = memory_.is_one() ? buffer_state::synchronized
             : device_        ? buffer_state::host_dirty
                              : buffer_state::host_only;
  }
  /// Brings the device up to date, then releases the host's block; no effect if both sides share one memory. Errors as
  /// `sync`; buffer_in_use while there is any view on the host.
  error_code drop_host();

  friend error_code sync_all(side to, std::span<two_sided* const> all);

  /// Held by a view on the host. While it lives, the host's block stays; while a writing one lives, no copy is made.
  class viewing {
   public:
    viewing() = default;
    /// A view of this buffer.
    viewing(two_sided& what, bool writes) noexcept
        : writers_(writes ? &what.busy_ : nullptr), views_(&what.views_) {
      ++*views_;
      if (writers_ != nullptr) ++*writers_;
    }
    /// Takes the view over.
    viewing(viewing&& other) noexcept { *this = std::move(other); }
    /// Swaps the views.
    viewing& operator=(viewing&& other) noexcept {
      std::swap(writers_, other.writers_);
      std::swap(views_, other.views_);
      return *this;
    }
    /// Ends the view.
    ~viewing() {
      if (views_ != nullptr) --*views_;
      if (writers_ != nullptr) --*writers_;
    }

   private:
    std::uint32_t *writers_ = nullptr, *views_ = nullptr;
  };

 protected:
  /// Whether that side can be used at once: the common case, therefore inline.
  bool is_ready(side to) const noexcept { return is_current(to) && busy_ == 0; }
  error_code bring(side to);
  /// Makes sure that the side has a block that is not in use, to be overwritten completely. Errors as `sync`, except
  /// buffer_empty.
  error_code claim_to_overwrite(side of) {
    if (auto const e = wait_for_background()) return e;
    if (busy_ != 0) return errc::buffer_in_use;  // by a writing view: no copy is running now
    return claim(of);
  }
  buffer const& host_side() const noexcept { return host_; }
  buffer const& device_side() const noexcept { return memory_.is_one() ? host_ : device_; }

 private:
  /// The background copy; there is at most one.
  struct background_copy {
    std::mutex mutex;
    std::condition_variable ended;
    bool began = false;  // only the program's thread uses it: the copy must be waited for
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
  /// Sets `older` if `to` needs a copy, and then claims its block. Errors as `sync`.
  error_code prepare(side to, bool& older);
  copy_job job(side to) noexcept;
  void arrived(side to) noexcept;
  error_code wait_for_background() noexcept;

  memory_pair memory_;
  std::uint64_t bytes_ = 0;
  buffer host_, device_;  // only `host_` if both sides share one memory
  buffer_state state_ = buffer_state::uninitialized;
  std::uint32_t busy_ = 0;   // writing views, plus a background copy
  std::uint32_t views_ = 0;  // views on the host
  std::unique_ptr<background_copy> background_;
};

/// Brings one side of all of `all` up to date, with one batch of copies per device. If one cannot be prepared, returns
/// its error without copying anything.
error_code sync_all(side to, std::span<two_sided* const> all);

/// Brings the device's sides of these buffers up to date, as sync_all.
template <class... Data>
error_code sync_to_device(Data&... data) {
  two_sided* const all[] = {&data...};
  return sync_all(side::device, all);
}
/// The same for the host's sides.
template <class... Data>
error_code sync_to_host(Data&... data) {
  two_sided* const all[] = {&data...};
  return sync_all(side::host, all);
}

}  // namespace rondo
