// The words that two processes share, and the protocol by which one process reads buffers that the other may withdraw.
//
// The exporter creates three pieces of shared memory. Only one side writes each of them:
//   data       the buffers' bytes. Written by the exporter; sealed, so that importers can map it only for reading.
//   directory  which slots are exported, and who may read; the exporter's heartbeat. Written by the exporter; sealed
//   likewise.
//   row        one per importer: its heartbeat, the number of its leases of each slot, and how many granted leases have
//              ended. Only that importer writes it, so a broken importer harms only itself (and keeps the blocks that
//              it claims to lease).
// An announcement grants a lease: the exporter counts it on its own side, and the importer takes one from its word when
// the lease ends. The two numbers together say how many leases there are, so the word may be "negative".
// A device's memory is also data, for importers that can open it; only the device protects it.
//
// **Threads**: the exporter's functions one at a time; the importer's from any thread.
//
// **Ordering** (seq_cst where each side writes its own word and then reads the other's: a store-buffer pattern, which
// acquire and release cannot order)
//   open -> lease      `open` stores the slot's state; the load of `try_lease` acquires the buffer's bytes and
//                      location.
//   lease | withdraw   `try_lease` counts, then loads the state. The exporter closes the state, then loads the counts.
//                      At least one of them sees the other: no lease is both granted and overlooked. seq_cst, all four.
//   end | withdraw     `end_lease` takes its count back, then loads the state; if it is closed, the importer sends a
//                      packet. The exporter closes it, then loads the counts. So the end of the last lease is not
//                      missed. seq_cst.
//   grant -> lease     The packet of an announcement, sent after `open`: the importer sees the buffer's bytes and
//                      location.
//   end -> reuse       The subtraction of `end_lease` releases; the load of `leased` acquires if it finds 0: no byte
//                      is overwritten before it was read.
//   cut -> reuse       A seqlock: `cut_off` removes the row's owner, then a release fence, and later the bytes are
//                      written. The reader reads the bytes, then an acquire fence, and checks the owner
//                      (`still_counted`). A reader that saw a byte written after the cut sees the cut. ASSUMES: that
//                      this holds for plain reads of the bytes too, whose race C++ leaves undefined; the compiler
//                      cannot move them across the fence.
#pragma once

#include <type_traits>

#include "kernels/base/atomic.hpp"

namespace rondo::share {

template <class T>
using word = atomic<T, scope::system>;

/// A slot's state: the generation of its export, and whether new leases may begin.
constexpr std::uint64_t slot_state(std::uint32_t generation, bool open) noexcept {
  return std::uint64_t{generation} << 1 | (open ? 1 : 0);
}
struct slot_entry {
  word<std::uint64_t> state;          // slot_state
  word<std::uint64_t> offset, bytes;  // in the data; change only while closed and not leased
};
static_assert(sizeof(slot_entry) == 24);

struct directory_header {
  std::uint64_t magic, share, data_bytes;
  std::uint32_t version, slots, rows;
  std::uint32_t beat;  // keeps changing while the exporter runs: directory::beat
};
static_assert(sizeof(directory_header) == 40);

/// One importer's words: the beat, which keeps changing while it runs; how many granted leases have ended; from byte 64
/// on, a count of leases for each slot, less those that were granted.
class row {
 public:
  row() = default;
  explicit row(std::byte* base) noexcept : base_(base) {}
  static constexpr std::uint64_t size_of(std::uint32_t slots) noexcept { return 64 + slots * 4ull; }
  word<std::uint64_t>& beat() const noexcept { return *reinterpret_cast<word<std::uint64_t>*>(base_); }
  word<std::uint64_t>& returned() const noexcept {
    return *reinterpret_cast<word<std::uint64_t>*>(base_ + 8);
  }
  word<std::uint32_t>& leases(std::uint32_t slot) const noexcept {
    return reinterpret_cast<word<std::uint32_t>*>(base_ + 64)[slot];
  }

  /// Called by the exporter, with the number of leases that it has granted. Precondition: it has closed the slot.
  bool leased(std::uint32_t slot, std::uint32_t granted) const noexcept {
    // seq_cst: lease | withdraw, end | withdraw; its acquire: end -> reuse
    return leases(slot).load(memory_order::seq_cst) + granted != 0;
  }

 private:
  std::byte* base_ = nullptr;
};

/// The header; then a word for each row with its importer's number (0: none); then the slots.
class directory {
 public:
  directory() = default;
  directory(std::byte* base, std::uint32_t rows) noexcept : base_(base), rows_(rows) {}
  static constexpr std::uint64_t size_of(std::uint32_t rows, std::uint32_t slots) noexcept {
    return sizeof(directory_header) + rows * 8ull + slots * sizeof(slot_entry);
  }
  directory_header& header() const noexcept { return *reinterpret_cast<directory_header*>(base_); }
  word<std::uint32_t>& beat() const noexcept {
    return *reinterpret_cast<word<std::uint32_t>*>(&header().beat);
  }
  word<std::uint64_t>& owner(std::uint32_t row) const noexcept {
    return reinterpret_cast<word<std::uint64_t>*>(base_ + sizeof(directory_header))[row];
  }
  slot_entry& slot(std::uint32_t index) const noexcept {
    return reinterpret_cast<slot_entry*>(base_ + sizeof(directory_header) + rows_ * 8ull)[index];
  }

  // -- for the exporter

  /// Precondition: the slot is closed, and no row leases it.
  void open(std::uint32_t index, std::uint32_t generation, std::uint64_t offset,
            std::uint64_t bytes) const noexcept {
    auto& entry = slot(index);
    // relaxed twice: published by the state
    entry.offset.store(offset, memory_order::relaxed);
    entry.bytes.store(bytes, memory_order::relaxed);
    entry.state.store(slot_state(generation, true), memory_order::release);  // open -> lease
  }
  /// Refuses new leases.
  void close(std::uint32_t index, std::uint32_t generation) const noexcept {
    // seq_cst: lease | withdraw, end | withdraw
    slot(index).state.store(slot_state(generation, false), memory_order::seq_cst);
  }
  void give_row(std::uint32_t row, std::uint64_t importer) const noexcept {
    owner(row).store(importer, memory_order::relaxed);  // relaxed: a packet tells the importer
  }
  /// Ends all leases of a row, which the exporter no longer reads afterwards.
  void cut_off(std::uint32_t row) const noexcept {
    owner(row).store(0, memory_order::relaxed);  // relaxed: the fence
    atomic_fence(memory_order::release);         // cut -> reuse
  }

  // -- for the importer

  /// Counts a lease in `own`. Returns whether the slot is open in this generation; if not, the caller must end the
  /// lease too.
  bool try_lease(row own, std::uint32_t index, std::uint32_t generation) const noexcept {
    // seq_cst twice: lease | withdraw; the load's acquire: open -> lease
    own.leases(index).fetch_add(1, memory_order::seq_cst);
    return slot(index).state.load(memory_order::seq_cst) == slot_state(generation, true);
  }
  /// Of a lease that an announcement has granted: whether this generation is, or was, exported.
  bool is_granted(std::uint32_t index, std::uint32_t generation) const noexcept {
    return slot(index).state.load(memory_order::relaxed) >> 1 == generation;  // relaxed: grant -> lease
  }
  /// False if the slot is closed: the caller must then notify the exporter.
  [[nodiscard]] bool end_lease(row own, std::uint32_t index, std::uint32_t generation) const noexcept {
    // seq_cst twice: end | withdraw; the subtraction's release: end -> reuse
    own.leases(index).fetch_sub(1, memory_order::seq_cst);
    return slot(index).state.load(memory_order::seq_cst) == slot_state(generation, true);
  }
  /// The same for a granted lease, of whose end the exporter must always be notified.
  void end_granted(row own, std::uint32_t index, std::uint32_t generation) const noexcept {
    own.returned().fetch_add(1, memory_order::relaxed);  // relaxed: a packet follows it
    static_cast<void>(end_lease(own, index, generation));
  }
  /// Whether this importer's leases still count, so that everything read so far was valid.
  bool still_counted(std::uint32_t row, std::uint64_t importer) const noexcept {
    atomic_fence(memory_order::acquire);                        // cut -> reuse
    return owner(row).load(memory_order::relaxed) == importer;  // relaxed: the fence
  }

 private:
  std::byte* base_ = nullptr;
  std::uint32_t rows_ = 0;
};

}  // namespace rondo::share
