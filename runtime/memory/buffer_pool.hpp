// A pool of buffers in one kind of memory: blocks by size class, cached for reuse, under a hard cap.
//
// The pool owns the blocks and binds each to a slot of a buffer table (kernels/buffers/buffer.hpp), which handlers
// use too. An acquire takes a cached slot of the size class from the calling thread's stripe, then from
// the slots that leases returned, then from other stripes (a hit). Otherwise it claims a block from the upstream (a
// miss), and gives up cached blocks of other classes if the cap or the number of slots requires it. So an acquire is
// refused only if the blocks in use leave no room for its block.
//
// A pool of a device's memory (options.home) works remotely: its own table is the host's record of the buffers. In it,
// the device holds a lease on each buffer until it has reported that the buffer is free. A hit then takes a submission.
//
// **Threads**: all functions from any thread; construction and destruction must not overlap other calls. Hits and
// releases are lock-free; misses and trims take a mutex. **Lifetime**: must outlive its owners, its leases, and the
// handlers that use its table.
#pragma once

#include <array>
#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "kernels/buffers/buffer_lease.hpp"
#include "runtime/base/errc.hpp"
#include "runtime/memory/buffer.hpp"
#include "runtime/memory/buffer_home.hpp"
#include "runtime/memory/size_classes.hpp"
#include "runtime/memory/slot_stack.hpp"
#include "runtime/os/made_here.hpp"

namespace rondo {

/// How a pool is made.
struct buffer_pool_options {
  std::uint64_t cap_bytes = 1ull << 30;  // of all blocks, in use and cached
  std::uint32_t slots = 4096;            // maximum number of blocks; if given a table, that table's size
  place where = place::host;             // the kind of memory that `upstream` provides
  std::pmr::memory_resource* upstream = std::pmr::new_delete_resource();  // provides the blocks
  buffer_home* home = nullptr;    // the device whose memory it is; must outlive the pool
  std::uint32_t home_number = 0;  // see buffer_home_shift
  /// Gets one line for each leak at shutdown, and for each owned buffer that was released through its handle; called on
  /// the thread that finds it. Must not throw. Empty: standard error.
  std::function<void(std::string const&)> report = {};
};

/// A snapshot; exact while no thread acquires or releases.
struct buffer_pool_statistics {
  std::uint64_t buffers_in_use = 0;   // acquired and not released
  std::uint64_t in_use_bytes = 0;     // blocks of buffers that are acquired, or released but still leased
  std::uint64_t cached_bytes = 0;     // blocks kept for reuse
  std::uint64_t peak_bytes = 0;       // the largest sum of both so far
  std::uint64_t waste_bytes = 0;      // the part of in_use_bytes that was not requested
  std::uint64_t hits = 0;             // acquires that a cached block served
  std::uint64_t misses = 0;           // those that took a block from the upstream
  std::uint64_t refusals = 0;         // those that failed
  std::uint64_t slots = 0;            // the most buffers at once, retired slots included
  std::uint64_t retired_slots = 0;    // their generations are used up
  std::uint64_t foreign_buffers = 0;  // in use, of somebody else's memory; in no other number
};

class buffer_pool {
 public:
  /// Owns its table. Throws std::invalid_argument for invalid options, naming them.
  explicit buffer_pool(buffer_pool_options options = {});
  /// Uses `table`, which must outlive the pool. Handles of an earlier pool of the same table stay stale.
  buffer_pool(buffer_pool_options options, buffer_table_ref table);
  buffer_pool(buffer_pool const&) = delete;
  buffer_pool& operator=(buffer_pool const&) = delete;
  /// Reports the buffers that were never released, then frees all memory.
  ~buffer_pool();

  /// A buffer of `bytes` with unspecified contents, aligned to 64 bytes, or to 4 KiB from 16 KiB on.
  /// Errors: pool_exhausted (the cap), slots_exhausted, out_of_memory (the upstream has none); in a device's pool also
  /// device_busy, device_lost, and stopped.
  [[nodiscard]] boost::system::result<buffer_ref> acquire(
      std::uint64_t bytes, boost::source_location const& from = BOOST_CURRENT_LOCATION);
  /// As `acquire`, but returns an owner.
  [[nodiscard]] boost::system::result<buffer> acquire_buffer(
      std::uint64_t bytes, boost::source_location const& from = BOOST_CURRENT_LOCATION);
  /// Makes an owner for a handle that was received with its ownership. Errors: those of a read.
  [[nodiscard]] boost::system::result<buffer> adopt(buffer_ref ref);

  /// A buffer in memory of somebody else, for reading alone: leases for writing fail with buffer_in_use, and its `span`
  /// is empty. Nothing is copied, and the cap does not count it. `from` gets it back once, when it was released and its
  /// last lease has ended. Errors: slots_exhausted, buffer_elsewhere (this is a device's pool).
  [[nodiscard]] boost::system::result<buffer> adopt_foreign(
      std::span<std::byte const> bytes, lender& from,
      boost::source_location const& source = BOOST_CURRENT_LOCATION);

  /// Releases the whole buffer, whatever range `ref` names. If there are leases, its block is returned at the end of
  /// the last one. Errors: double_release, stale_buffer (never acquired here).
  errc release(buffer_ref ref) noexcept;

  /// Scoped leases; check their `status`. buffer_elsewhere in a device's pool.
  template <class T = std::byte>
  [[nodiscard]] read_lease<T> read(buffer_ref ref) const noexcept {
    return {table(), ref};
  }
  /// An exclusive lease.
  template <class T = std::byte>
  [[nodiscard]] write_lease<T> write(buffer_ref ref) const noexcept {
    return {table(), ref};
  }

  /// Keeps the buffer's block from being reused while the result lives, even if the buffer is released. In a device's
  /// pool this lease does not affect handlers' leases, and its view must not be accessed.
  [[nodiscard]] read_lease<> keep_block(buffer_ref ref) const noexcept { return {table_, ref}; }

  /// To be called when the device reports that the buffer in this slot was released, by the host or by a handler, and
  /// is no longer leased.
  void on_free_at_home(std::uint32_t slot) noexcept;
  /// The same for all buffers: the device has stopped or was lost.
  void on_home_gone() noexcept;
  /// The address, on the device, of the bytes that `ref` names, for copies by its owner. Null for a handle that is not
  /// live.
  std::byte* address_of(buffer_ref ref) const noexcept;

  /// Returns cached blocks to the upstream, largest first, until at most `keep_bytes` are cached. Returns
  /// the number of bytes.
  std::uint64_t trim(std::uint64_t keep_bytes = 0);

  /// The current numbers.
  buffer_pool_statistics statistics() const;
  /// The table for leases on the host; empty in a device's pool.
  buffer_table_ref table() const noexcept { return options_.home == nullptr ? table_ : buffer_table_ref{}; }
  /// The device whose memory it is; null for host memory.
  buffer_home* home() const noexcept { return options_.home; }
  /// The kind of its memory.
  place where() const noexcept { return options_.where; }

  /// For error texts: "12 of 1024 MiB (buffer_bytes_cap) and 4096 of 4096 slots (buffer_slots) are in use".
  std::string describe_room() const;
  /// One line for error texts: what the handle names, and where its buffer was last acquired.
  std::string describe(buffer_ref ref) const;

 private:
  friend buffer;
  static constexpr std::uint32_t stripes = 8;

  struct alignas(64) slot_state {  // one cache line each: written at every acquire
    std::uint32_t size_class = 0;  // the thread that has the slot changes it, under the mutex
    bool bound = false;            // has a block of its own; changes likewise
    std::uint32_t first_generation = 1;
    atomic<char const*> file{nullptr};  // where it was last acquired; relaxed: only for texts
    atomic<std::uint32_t> line{0};
    atomic<std::uint32_t> leased_at_home{0};
  };
  struct alignas(64) stripe {
    std::array<slot_stack, size_classes::count> cached;
  };

  static buffer_table_ref own_table(buffer_entry* entries, buffer_pool_options const& options,
                                    atomic<std::uint32_t, scope::system>* returned) noexcept {
    return {entries, options.slots, returned, options.home_number};
  }
  std::byte* on_host(std::byte* base) const noexcept { return options_.home == nullptr ? base : nullptr; }
  errc release_here(buffer_ref ref) noexcept;
  errc open_at_home(buffer_ref ref) noexcept;
  void end_lease_of_home(std::uint32_t slot) noexcept;
  void close_at_home(buffer_ref ref) noexcept;
  void close_more_at_home() noexcept;
  static std::uint32_t own_stripe() noexcept;
  std::uint32_t take(std::uint32_t size_class) noexcept;
  std::uint32_t claim(std::uint32_t size_class, errc& refusal);
  std::uint32_t claim_without_block();
  void note_origin(std::uint32_t slot, boost::source_location const& from) noexcept;
  void keep(std::uint32_t slot) noexcept;
  void collect_returned() noexcept;
  std::uint32_t pop_cached(std::uint32_t size_class) noexcept;
  std::uint64_t unbind_largest() noexcept;
  void unbind(std::uint32_t slot) noexcept;
  void report(buffer_ref ref, char const* what) const noexcept;

  buffer_pool_options options_;
  std::unique_ptr<buffer_entry[]> own_entries_;
  atomic<std::uint32_t, scope::system> own_returned_{0};
  atomic<std::uint32_t> waiting_to_close_{0};  // 1: to_close_ is not empty
  buffer_table_ref table_;
  std::unique_ptr<slot_state[]> slots_;
  std::array<stripe, stripes> stripes_;

  made_here const made_here_{};
  mutable std::mutex mutex_;            // guards the members below, and binding
  std::vector<std::uint32_t> unbound_;  // slots without a block
  std::vector<buffer_ref> to_close_;    // the queue to their home was full
  std::uint64_t claimed_bytes_ = 0, peak_bytes_ = 0;
  std::uint64_t misses_ = 0, refusals_ = 0, retired_slots_ = 0, adopted_ = 0;
};

}  // namespace rondo
