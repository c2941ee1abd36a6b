// The memory of a GPU as weak as PTX allows: what a thread stores, and when which other thread sees it.
//
// A store goes from its lane's buffer to its multiprocessor's, from there to the device's memory, and if its address is
// the host's, over the bus to that. Each step happens late and out of order, except that stores to the same bytes keep
// their order. A release or fence of cta scope empties the lane's buffer; of gpu scope, also the multiprocessor's; of
// sys scope, also the bus. A load sees the lane's own stores, those of its multiprocessor, and then the device's memory
// or, if it is weak, perhaps an older copy of it in the multiprocessor's L1: one made since the lane's last acquire. A
// weak or relaxed load may be done late, behind other loads, also behind one that acquires: when an instruction needs
// its value, or at the lane's next fence, barrier, store, atomic or call.
//
// The L1 is kept per block, and a lane's acquire does not help other lanes of its block, unless they meet it at a
// barrier: both weaker than today's hardware, and what PTX promises no more than. Stronger than PTX: a lane's loads are
// done before its later stores.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "tests/ptx/machine/ptx_module.hpp"
#include "tests/ptx/machine/ptx_store_buffer.hpp"

namespace ptx {

enum class memory_kind : std::uint8_t { device, host, constant };

struct memory_range {
  std::uint64_t begin = 0, end = 0;
  memory_kind kind = memory_kind::device;
  std::string name;
  bool has(std::uint64_t address, std::uint32_t bytes) const noexcept {
    return address >= begin && address < end && bytes <= end - address;
  }
};

/// How weak the memory is, as chances in 256, and the seed of its choices.
struct weakness {
  std::uint64_t seed = 1;
  std::uint32_t drain = 96;   // that a store leaves a buffer when another one enters, or its lane loads
  std::uint32_t stale = 224;  // that a weak load takes a copy that the L1 has
  std::uint32_t slow_loads =
      96;  // that a load that need not be in order is done late; 0 where an observer counts
  std::uint32_t late =
      0;  // that lanes look at an open barrier and do not go on yet; only where each warp has a thread
};

/// xorshift64* (Vigna, 2016).
class random_source {
 public:
  explicit random_source(std::uint64_t seed) noexcept : state_(seed * 0x9e37'79b9'7f4a'7c15ull | 1) {}
  std::uint32_t operator()() noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>(state_ * 0x2545'f491'4f6c'dd1dull >> 32);
  }
  bool chance(std::uint32_t in_256) noexcept { return ((*this)() & 0xff) < in_256; }

 private:
  std::uint64_t state_;
};

class spin_lock {
 public:
  void lock() noexcept {
    while (held_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

// Memory of this process, which other threads use, too. Acquire and release make what is ordered for a GPU also ordered
// for the host's threads.
std::uint64_t load_bytes(std::uint64_t address, std::uint32_t bytes) noexcept;
void store_bytes(pending_store const& s) noexcept;

/// Writes on their way to the host's memory. Threads: any.
class posted_writes {
 public:
  explicit posted_writes(weakness const& how) : how_(how), random_(how.seed) {}
  void post(pending_store const& s);
  void overlay(std::uint64_t address, std::uint32_t bytes, std::uint64_t& value);
  void flush();
  /// Lets one write arrive, if there is one.
  void age();

 private:
  weakness how_;
  spin_lock lock_;
  std::atomic<std::size_t> count_{0};
  random_source random_;
  store_buffer buffer_;
};

/// A barrier of a block (bar.sync n).
struct block_barrier {
  std::uint32_t arrived = 0;
  bool whole = true;        // all threads of the block take part
  std::uint64_t floor = 0;  // of the lanes that have arrived
  std::atomic<std::uint64_t> generation{0};
  std::uint64_t released_floor = 0;
};

/// One block's part of a multiprocessor: shared memory, L1, store buffer, barriers. Threads: the block's warps.
class multiprocessor {
 public:
  multiprocessor(weakness const& how, posted_writes& bus, std::uint32_t block, std::uint32_t shared_bytes,
                 std::uint32_t threads);

  // -- global memory

  struct loaded {
    std::uint64_t value;
    bool from_l1;
  };
  /// `floor`: copies older than that are not used.
  loaded load(memory_range const& range, std::uint64_t address, std::uint32_t bytes, bool weak,
              std::uint64_t floor);
  /// Takes a store from a lane.
  void accept(memory_range const& range, pending_store const& s);
  /// Lets what lanes of this block stored, and this lane's buffer has passed on, arrive in the device's memory.
  void flush_to_device();
  /// Runs `change` on the device's memory at once, after earlier stores of this block to the same bytes.
  template <class Change>
  auto atomically(std::uint64_t address, std::uint32_t bytes, Change change) {
    std::lock_guard guard(lock_);
    device_stores_.drain_overlapping(address, bytes, [this](pending_store const& s) { to_device(s); });
    auto const result = change();
    update_l1({address, load_bytes(address, bytes), bytes});
    return result;
  }
  /// A new floor for a lane that acquires.
  std::uint64_t acquire() noexcept { return clock_.fetch_add(1, std::memory_order_acq_rel) + 1; }
  void age();

  // -- shared memory: at once and in order; a byte must be written before it is read

  std::byte* shared() noexcept { return shared_.data(); }
  std::uint32_t shared_bytes() const noexcept { return static_cast<std::uint32_t>(written_.size()); }
  bool was_written(std::uint64_t offset, std::uint32_t bytes) const noexcept;
  void set_written(std::uint64_t offset, std::uint32_t bytes) noexcept;

  // -- barriers

  static constexpr std::uint32_t barriers = 16;
  block_barrier& barrier(std::uint32_t n) noexcept { return barriers_[n]; }
  /// `lanes` more threads arrive; 0 expected: all of the block. Returns false if threads of the block have exited, so
  /// that it would wait for ever.
  bool arrive(std::uint32_t n, std::uint32_t lanes, std::uint32_t expected, std::uint64_t floor);
  /// False if other threads wait for this one at a barrier.
  bool leave(std::uint32_t lanes);

 private:
  struct sector {
    std::uint64_t base = ~0ull, stamp = 0;
    std::array<std::uint64_t, 4> words{};
  };
  static constexpr std::uint64_t sector_bytes = 32;
  static constexpr std::size_t sectors = 1024;
  sector& sector_of(std::uint64_t address) noexcept { return l1_[address / sector_bytes % sectors]; }
  /// A store changes its own bytes in the L1; the rest of a copy stays as old as it is.
  void update_l1(pending_store const& s) noexcept;
  void to_device(pending_store const& s);

  weakness how_;
  posted_writes& bus_;
  random_source random_;
  std::uint32_t threads_, exited_ = 0;
  spin_lock lock_;
  store_buffer device_stores_, host_stores_;
  std::vector<sector> l1_;
  std::atomic<std::uint64_t> clock_{1};
  rondo::arena_memory shared_;
  std::vector<std::atomic<std::uint8_t>> written_;
  std::array<block_barrier, barriers> barriers_;
};

}  // namespace ptx
