// A pool of buffers in one place: blocks by size class, kept for reuse, under a hard cap.
//
// The pool owns the blocks and binds each to a slot of a buffer table (kernels/buffers/buffer.hpp), which handlers
// reach too. An acquire takes a cached slot of the size class from the calling thread's stripe, then from
// what leases returned, then from other stripes (a hit); else it claims a block from the upstream (a miss),
// giving up cached blocks of other classes if the cap or the slots ask for it. So an acquire is refused only
// if blocks in use leave no room for its block.
//
// A pool of a device's memory (options.home) does the same from afar: its own table is the host's book of the buffers, in which
// the device holds a lease on each of them until it has said that the buffer is free. Hits then take a submission.
//
// **Threads**: all functions from any thread; construction and destruction alone. Hits and releases are
// lock-free; misses and trims take a mutex. **Lifetime**: longer than its owners, leases and handlers that
// use its table.
#pragma once

#include <array>
#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/buffers/buffer_lease.hpp"
#include "runtime/base/errc.hpp"
#include "runtime/memory/buffer.hpp"
#include "runtime/memory/buffer_home.hpp"
#include "runtime/memory/size_classes.hpp"
#include "runtime/memory/slot_stack.hpp"

namespace rondo {

struct buffer_pool_options {
  std::uint64_t cap_bytes = 1ull << 30;  // of all blocks, in use and cached
  std::uint32_t slots = 4096;            // most blocks at once; a pool given a table has that table's slots
  place where = place::host;             // what `upstream` hands out
  std::pmr::memory_resource* upstream = std::pmr::new_delete_resource();
  buffer_home* home = nullptr;    // the device that leases them; outlives the pool
  std::uint32_t home_number = 0;  // see buffer_home_shift
  /// Gets one line for each leak at shutdown and each owner whose handle was released behind its back; from
  /// the thread that finds it. Must not throw. Empty: standard error.
  std::function<void(std::string const&)> report = {};
};

/// A moment's view; exact while nobody acquires or releases.
struct buffer_pool_statistics {
  std::uint64_t buffers_in_use = 0;
  std::uint64_t in_use_bytes = 0;  // blocks of buffers acquired, or released with a lease still out
  std::uint64_t cached_bytes = 0;  // blocks kept for reuse
  std::uint64_t peak_bytes = 0;    // the most that both ever were together
  std::uint64_t waste_bytes = 0;   // the part of in_use_bytes that was not asked for
  std::uint64_t hits = 0, misses = 0, refusals = 0;
  std::uint64_t retired_slots = 0;  // out of generations
};

class buffer_pool {
 public:
  /// Owns its table. Throws std::invalid_argument on options that cannot work, naming them.
  explicit buffer_pool(buffer_pool_options options = {});
  /// Uses `table`, which outlives the pool. Handles of an earlier pool of the same table stay stale.
  buffer_pool(buffer_pool_options options, buffer_table_ref table);
  buffer_pool(buffer_pool const&) = delete;
  buffer_pool& operator=(buffer_pool const&) = delete;
  /// Reports the buffers that were never released, then frees all memory.
  ~buffer_pool();

  /// A buffer of `bytes`, its contents unspecified, aligned to 64 bytes or from 16 KiB on to 4 KiB.
  /// Errors: pool_exhausted (cap or slots), out_of_memory (the upstream has none); of a device's memory also
  /// device_busy, device_lost and stopped.
  [[nodiscard]] boost::system::result<buffer_ref> acquire(
      std::uint64_t bytes, boost::source_location const& from = BOOST_CURRENT_LOCATION);
  /// As `acquire`, with an owner that releases it.
  [[nodiscard]] boost::system::result<buffer> acquire_buffer(
      std::uint64_t bytes, boost::source_location const& from = BOOST_CURRENT_LOCATION);
  /// An owner for a handle whose ownership came along with it. Errors: those of a read.
  [[nodiscard]] boost::system::result<buffer> adopt(buffer_ref ref);

  /// Gives the buffer back, whatever range of it `ref` names; with leases out its block follows at the end of
  /// the last. Errors: double_release, stale_buffer (never acquired here).
  errc release(buffer_ref ref) noexcept;

  /// Leases for the scope they live in; see their `status`. buffer_elsewhere in a pool of a device's memory.
  template <class T = std::byte>
  [[nodiscard]] read_lease<T> read(buffer_ref ref) const noexcept {
    return {table(), ref};
  }
  template <class T = std::byte>
  [[nodiscard]] write_lease<T> write(buffer_ref ref) const noexcept {
    return {table(), ref};
  }

  /// Keeps the buffer's block from serving again until this ends, whoever releases it. In a device's pool it is no lease among
  /// those of handlers, and its view must not be touched.
  [[nodiscard]] read_lease<> keep_block(buffer_ref ref) const noexcept { return {table_, ref}; }

  /// The device says that the buffer in this slot was released, by its host or by a handler, and is leased no more.
  void on_free_at_home(std::uint32_t slot) noexcept;
  /// The same of all: the device has stopped, or was lost.
  void on_home_gone() noexcept;
  /// Where the buffer's bytes begin, there: for copies, by its owner. Null for a handle that is not live.
  std::byte* address_of(buffer_ref ref) const noexcept;

  /// Hands cached blocks back to the upstream, largest first, until at most `keep_bytes` are cached; returns
  /// the bytes.
  std::uint64_t trim(std::uint64_t keep_bytes = 0);

  buffer_pool_statistics statistics() const;
  /// For who leases on the host; empty when that is done elsewhere.
  buffer_table_ref table() const noexcept { return options_.home == nullptr ? table_ : buffer_table_ref{}; }
  buffer_home* home() const noexcept { return options_.home; }
  place where() const noexcept { return options_.where; }

  /// One line for an error's text: what the handle names, and where its buffer was acquired last.
  std::string describe(buffer_ref ref) const;

 private:
  friend buffer;
  static constexpr std::uint32_t stripes = 8;

  struct alignas(64) slot_state {  // a line each: written at every acquire
    std::uint32_t size_class = 0;  // changes under the mutex, by whoever has the slot
    bool bound = false;            // likewise: has a block
    std::uint32_t first_generation = 1;
    atomic<char const*> file{nullptr};  // where it was acquired last; relaxed, for texts only
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
  void keep(std::uint32_t slot) noexcept;
  void collect_returned() noexcept;
  std::uint32_t pop_cached(std::uint32_t size_class) noexcept;
  std::uint64_t unbind_largest() noexcept;
  void unbind(std::uint32_t slot) noexcept;
  void report(buffer_ref ref, char const* what) const noexcept;

  buffer_pool_options options_;
  std::unique_ptr<buffer_entry[]> own_entries_;
  atomic<std::uint32_t, scope::system> own_returned_{0};
  atomic<std::uint32_t> waiting_to_close_{0};  // whether to_close_ has any
  buffer_table_ref table_;
  std::unique_ptr<slot_state[]> slots_;
  std::array<stripe, stripes> stripes_;

  mutable std::mutex mutex_;            // guards all below, and binding
  std::vector<std::uint32_t> unbound_;  // slots without a block
  std::vector<buffer_ref> to_close_;    // the way to their home was full
  std::uint64_t claimed_bytes_ = 0, peak_bytes_ = 0;
  std::uint64_t misses_ = 0, refusals_ = 0, retired_slots_ = 0;
};

}  // namespace rondo
