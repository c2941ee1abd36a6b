// Buffers: data too large for a message, named by a small handle that is checked at each use.
//
// A table has one entry per slot. A `buffer_ref` names a slot, the generation it was acquired in, and a
// range. The table lives with who leases: in the host's memory for the device `cpu`; in a device's own, where the
// I/O team opens and closes its slots as the host wishes. Zeroed memory is a valid table, with no buffer yet.
// **Threads**: any thread on the table's side may call anything; on a device one lane of a team calls for all.
// **Invariants**: B1 to B5 of kernels/buffers/buffer_word.hpp, and
//  B6 A slot freed by `release` or by a lease is in the stack of returned slots until its pool takes it.
//
// Ordering
//  open -> lease     `open` stores the word with release; the exchange that leases acquires.
//  write -> next     `end_write` releases; the next lease of either kind acquires what was written.
//  read -> write     `end_read` releases; `begin_write` acquires, so no write overtakes an earlier read.
//  any end -> reuse  The exchange that frees the slot acquires all earlier ends, as each is a
//                    read-modify-write of the word; `push_returned` releases, `take_returned` acquires.
#pragma once

#include <type_traits>

#include "kernels/base/atomic.hpp"
#include "kernels/base/status.hpp"
#include "kernels/buffers/buffer_ref.hpp"
#include "kernels/buffers/buffer_word.hpp"

namespace rondo {

/// What a table knows of one slot. A line each, so that leases of two buffers do not slow each other down.
struct alignas(64) buffer_entry {
  atomic<std::uint64_t, scope::system> word;   // buffer_word
  std::byte* base;                             // B4
  atomic<std::uint64_t, scope::system> bytes;  // B4; atomic only so that statistics may look on
  atomic<std::uint32_t, scope::system> next;   // slot + 1 of the next in its stack; 0: none
  place where;                                 // B4
};
static_assert(sizeof(buffer_entry) == 64);

/// A non-owning view of a table of buffers; cheap to copy.
class buffer_table_ref {
 public:
  buffer_table_ref() = default;
  /// `entries` and `returned` are zeroed, or hold a table made before. `home`: see buffer_home_shift.
  RONDO_HD buffer_table_ref(buffer_entry* entries, std::uint32_t count,
                            atomic<std::uint32_t, scope::system>* returned, std::uint32_t home = 0) noexcept
      : entries_(entries), returned_(returned), count_(count), home_(home << buffer_home_shift) {}

  RONDO_HD std::uint32_t size() const noexcept { return count_; }
  /// By its number in this table.
  RONDO_HD buffer_entry& entry(std::uint32_t slot) const noexcept { return entries_[slot]; }
  /// The number of the slot that `ref` names; at least size() if it is not of this table.
  RONDO_HD std::uint32_t slot_of(buffer_ref ref) const noexcept { return ref.slot ^ home_; }

  // --- leases: each returns ok, stale_buffer (released, unknown slot or never acquired), buffer_elsewhere or what it
  // says ---

  /// Shares the buffer for reading; end with `end_read`. buffer_in_use while a writer holds it.
  RONDO_HD errc begin_read(buffer_ref ref) const noexcept;
  /// Takes the buffer for writing alone; end with `end_write`. buffer_in_use while anybody holds a lease.
  RONDO_HD errc begin_write(buffer_ref ref) const noexcept;
  /// Precondition: the caller holds the lease it ends. The last lease of a released buffer
  /// frees it.
  RONDO_HD void end_read(buffer_ref ref) const noexcept { end_lease(ref, buffer_word::one_reader); }
  RONDO_HD void end_write(buffer_ref ref) const noexcept { end_lease(ref, buffer_word::writer); }

  /// `begin_read` and the range's elements. buffer_out_of_bounds if the range leaves the buffer, or is not
  /// aligned whole Ts. Only ok leaves a lease to end.
  template <class T>
  RONDO_HD errc try_read(buffer_ref ref, buffer_view<T const>& view) const noexcept {
    return try_view(ref, begin_read(ref), buffer_word::one_reader, view);
  }
  /// `begin_write` and the range's elements; the lease is of the whole buffer. Errors as `try_read`.
  template <class T>
  RONDO_HD errc try_write(buffer_ref ref, buffer_view<T>& view) const noexcept {
    static_assert(!std::is_const_v<T>);
    return try_view(ref, begin_write(ref), buffer_word::writer, view);
  }

  // --- owners ---

  /// Gives the buffer back, whatever range `ref` names; with leases out it is freed at the end of the last.
  /// double_release if this generation was released before, stale_buffer if it was never issued.
  RONDO_HD errc release(buffer_ref ref) const noexcept {
    bool freed = false;
    auto const outcome = close(ref, freed);
    if (freed) push_returned(slot_of(ref));
    return outcome;
  }

  // --- pools ---

  /// Begins the use that `ref` names of `base`, as its host has decided. Precondition: as `open`.
  RONDO_HD void open_as(buffer_ref ref, std::byte* base) const noexcept {
    auto& entry = entries_[slot_of(ref)];
    entry.base = base;
    entry.where = place::device;
    entry.word.store(buffer_word::free_at(ref.generation).bits(),
                     memory_order::relaxed);  // published by `open`
    open(slot_of(ref), ref.bytes);
  }

  /// Begins a use of `bytes` of the slot's memory. Precondition: the slot is free, of a generation other than
  /// 0, and the caller's alone.
  RONDO_HD buffer_ref open(std::uint32_t slot, std::uint64_t bytes) const noexcept;
  /// As `release`, but a slot with `freed` set is the caller's to keep and is not returned.
  RONDO_HD errc close(buffer_ref ref, bool& freed) const noexcept;
  /// Takes all returned slots: slot + 1 of the first, the others by `next`; 0: none.
  /// The caller alone has them.
  RONDO_HD std::uint32_t take_returned() const noexcept {
    if (returned_->load(memory_order::relaxed) == 0) return 0;  // relaxed: a hint; the exchange decides
    return returned_->exchange(0, memory_order::acquire);       // acquire: any end -> reuse
  }

 private:
  RONDO_HD void end_lease(buffer_ref ref, std::uint64_t lease) const noexcept;
  RONDO_HD void push_returned(std::uint32_t slot) const noexcept;
  RONDO_HD errc why_unknown(buffer_ref ref) const noexcept {
    return ref.generation != 0 && slot_of(ref) >> buffer_home_shift != 0 ? errc::buffer_elsewhere
                                                                         : errc::stale_buffer;
  }
  template <class T>
  RONDO_HD errc try_view(buffer_ref ref, errc leased, std::uint64_t lease,
                         buffer_view<T>& view) const noexcept;

  buffer_entry* entries_ = nullptr;
  atomic<std::uint32_t, scope::system>* returned_ = nullptr;
  std::uint32_t count_ = 0, home_ = 0;
};
static_assert(std::is_trivially_copyable_v<buffer_table_ref>);

RONDO_HD inline buffer_ref buffer_table_ref::open(std::uint32_t slot, std::uint64_t bytes) const noexcept {
  auto& entry = entries_[slot];
  // relaxed twice: the slot is the caller's, and readers look only after they acquired the word
  auto const free = buffer_word{entry.word.load(memory_order::relaxed)};
  entry.bytes.store(bytes, memory_order::relaxed);
  entry.word.store(free.bits() | buffer_word::live, memory_order::release);  // open -> lease
  return {slot | home_, free.generation(), 0, bytes};
}

RONDO_HD inline errc buffer_table_ref::begin_read(buffer_ref ref) const noexcept {
  auto const slot = slot_of(ref);
  if (slot >= count_ || ref.generation == 0) return why_unknown(ref);
  auto& entry = entries_[slot];
  auto bits = entry.word.load(memory_order::relaxed);  // relaxed: the exchange decides
  for (;;) {
    auto const word = buffer_word{bits};
    if (word.generation() != ref.generation || !word.is_live()) return errc::stale_buffer;
    if (word.written() || word.readers() == buffer_word::readers_mask) return errc::buffer_in_use;
    // acquire: open -> lease and write -> next
    if (entry.word.compare_exchange(bits, bits + buffer_word::one_reader, memory_order::acquire,
                                    memory_order::relaxed))
      return errc::ok;
  }
}

RONDO_HD inline errc buffer_table_ref::begin_write(buffer_ref ref) const noexcept {
  auto const slot = slot_of(ref);
  if (slot >= count_ || ref.generation == 0) return why_unknown(ref);
  auto& entry = entries_[slot];
  auto bits = entry.word.load(memory_order::relaxed);  // relaxed: the exchange decides
  for (;;) {
    auto const word = buffer_word{bits};
    if (word.generation() != ref.generation || !word.is_live()) return errc::stale_buffer;
    if (word.leased()) return errc::buffer_in_use;
    // acquire: open -> lease, write -> next and read -> write
    if (entry.word.compare_exchange(bits, bits | buffer_word::writer, memory_order::acquire,
                                    memory_order::relaxed))
      return errc::ok;
  }
}

RONDO_HD inline void buffer_table_ref::end_lease(buffer_ref ref, std::uint64_t lease) const noexcept {
  auto& entry = entries_[slot_of(ref)];
  auto bits = entry.word.load(memory_order::relaxed);  // relaxed: the exchange decides
  for (;;) {
    auto const after = buffer_word{bits - lease}.settled();
    // release: write -> next, read -> write; acquire: any end -> reuse
    if (entry.word.compare_exchange(bits, after.bits(), memory_order::acq_rel, memory_order::relaxed)) {
      if (after.is_free()) push_returned(slot_of(ref));
      return;
    }
  }
}

RONDO_HD inline errc buffer_table_ref::close(buffer_ref ref, bool& freed) const noexcept {
  freed = false;
  auto const slot = slot_of(ref);
  if (slot >= count_ || ref.generation == 0) return why_unknown(ref);
  auto& entry = entries_[slot];
  auto bits = entry.word.load(memory_order::relaxed);  // relaxed: the exchange decides
  for (;;) {
    auto const word = buffer_word{bits};
    if (word.generation() != ref.generation || !word.is_live()) {
      // Generation 0 follows the last one (B5). A table no pool has used is at 0 too, and issued no handle.
      bool const issued = word.generation() == 0 || ref.generation < word.generation() || word.leased();
      return issued ? errc::double_release : errc::stale_buffer;
    }
    auto const after = buffer_word{bits & ~buffer_word::live}.settled();
    // release: the owner's writes and reads end here; acquire: any end -> reuse
    if (entry.word.compare_exchange(bits, after.bits(), memory_order::acq_rel, memory_order::relaxed)) {
      freed = after.is_free();
      return errc::ok;
    }
  }
}

RONDO_HD inline void buffer_table_ref::push_returned(std::uint32_t slot) const noexcept {
  auto top = returned_->load(memory_order::relaxed);  // relaxed: the exchange decides
  do {
    entries_[slot].next.store(top, memory_order::relaxed);  // relaxed: published by the exchange
    // release: any end -> reuse. Pushes and take-all only, so a recurring top does no harm.
  } while (!returned_->compare_exchange(top, slot + 1, memory_order::release, memory_order::relaxed));
}

template <class T>
RONDO_HD errc buffer_table_ref::try_view(buffer_ref ref, errc leased, std::uint64_t lease,
                                         buffer_view<T>& view) const noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  if (leased != errc::ok) return leased;
  auto const& entry = entries_[slot_of(ref)];
  auto const bytes = entry.bytes.load(memory_order::relaxed);  // relaxed: B4, under the lease
  bool const inside = ref.offset <= bytes && ref.bytes <= bytes - ref.offset;
  auto* const first = entry.base + (inside ? ref.offset : 0);
  if (!inside || ref.bytes % sizeof(T) != 0 || reinterpret_cast<std::uintptr_t>(first) % alignof(T) != 0) {
    end_lease(ref, lease);
    return errc::buffer_out_of_bounds;
  }
  view = {reinterpret_cast<T*>(first), ref.bytes / sizeof(T)};
  return errc::ok;
}

}  // namespace rondo
