// Buffers: memory for data too large for a message, named by a small handle that is checked at each use.
//
// A table has one entry per slot. A `buffer_ref` names a slot, the generation in which it was acquired, and a
// range. The table is in the memory of the side that leases: the host's for a `cpu` device; a device's own, where the
// I/O team opens and closes slots for the host. Zeroed memory is a valid, empty table.
// **Threads**: any thread on the table's side may call anything; on a device, one lane of a team calls for all.
// **Invariants**: B1 to B5 of kernels/buffers/buffer_word.hpp, and
//  B6 A slot freed by `release` or by a lease stays in the stack of returned slots until its pool takes it.
//  B7 A foreign block is never written, and goes back to its lender once, when its slot becomes free.
//
// Ordering
//  open -> lease     `open` stores the word with release; the exchange that takes the lease acquires.
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
#include "kernels/buffers/foreign_block.hpp"

namespace rondo {

/// A table's record of one slot. Each has its own cache line, so that leases of two buffers do not slow each other
/// down.
struct alignas(64) buffer_entry {
  atomic<std::uint64_t, scope::system> word;   // buffer_word
  std::byte* base;                             // B4
  atomic<std::uint64_t, scope::system> bytes;  // B4; atomic only because statistics read it concurrently
  atomic<std::uint32_t, scope::system> next;   // slot + 1 of the next in its stack; 0: none
  place where;                                 // B4
  lender* foreign;                             // B4; whose block it is, if the word says that it is foreign
};
static_assert(sizeof(buffer_entry) == 64);

/// A non-owning view of a table of buffers; cheap to copy.
class buffer_table_ref {
 public:
  buffer_table_ref() = default;
  /// Precondition: `entries` and `returned` are zeroed or hold an existing table. `home`: see buffer_home_shift.
  RONDO_HD buffer_table_ref(buffer_entry* entries, std::uint32_t count,
                            atomic<std::uint32_t, scope::system>* returned, std::uint32_t home = 0) noexcept
      : entries_(entries), returned_(returned), count_(count), home_(home << buffer_home_shift) {}

  /// The number of slots.
  RONDO_HD std::uint32_t size() const noexcept { return count_; }
  /// The entry with this number in the table.
  RONDO_HD buffer_entry& entry(std::uint32_t slot) const noexcept { return entries_[slot]; }
  /// The number of the slot that `ref` names; at least size() if it is not in this table.
  RONDO_HD std::uint32_t slot_of(buffer_ref ref) const noexcept { return ref.slot ^ home_; }

  // --- leases: each returns ok, stale_buffer (released, unknown slot, or never acquired), buffer_elsewhere, or the
  // error that it names ---

  /// Takes a shared lease for reading; end it with `end_read`. buffer_in_use while a writer holds the buffer.
  RONDO_HD errc begin_read(buffer_ref ref) const noexcept;
  /// Takes the exclusive lease for writing; end it with `end_write`. buffer_in_use while there is any lease, and for a
  /// foreign block.
  RONDO_HD errc begin_write(buffer_ref ref) const noexcept;
  /// Ends a lease. Precondition: the caller holds it. The end of a released buffer's last lease
  /// frees it.
  RONDO_HD void end_read(buffer_ref ref) const noexcept { end_lease(ref, buffer_word::one_reader); }
  /// The same for a lease for writing.
  RONDO_HD void end_write(buffer_ref ref) const noexcept { end_lease(ref, buffer_word::writer); }

  /// `begin_read`, then sets `view` to the range's elements. buffer_out_of_bounds if the range leaves the buffer, is
  /// misaligned for T, or is not a whole number of Ts. Only ok takes a lease.
  template <class T>
  RONDO_HD errc try_read(buffer_ref ref, buffer_view<T const>& view) const noexcept {
    return try_view(ref, begin_read(ref), buffer_word::one_reader, view);
  }
  /// `begin_write`, then sets `view` to the range's elements. The lease covers the whole buffer. Errors as `try_read`.
  template <class T>
  RONDO_HD errc try_write(buffer_ref ref, buffer_view<T>& view) const noexcept {
    static_assert(!std::is_const_v<T>);
    return try_view(ref, begin_write(ref), buffer_word::writer, view);
  }

  // --- owners ---

  /// Releases the whole buffer, whatever range `ref` names. If there are leases, the end of the last one frees it.
  /// double_release if this generation was already released, stale_buffer if it was never issued.
  RONDO_HD errc release(buffer_ref ref) const noexcept {
    bool freed = false;
    auto const outcome = close(ref, freed);
    if (freed) push_returned(slot_of(ref));
    return outcome;
  }

  // --- pools ---

  /// Opens the slot of `ref` on the memory at `base`, as the host has decided. Precondition: as `open`.
  RONDO_HD void open_as(buffer_ref ref, std::byte* base) const noexcept {
    auto& entry = entries_[slot_of(ref)];
    entry.base = base;
    entry.where = place::device;
    entry.word.store(buffer_word::free_at(ref.generation).bits(),
                     memory_order::relaxed);  // published by `open`
    open(slot_of(ref), ref.bytes);
  }

  /// Begins a use of `bytes` of the slot's memory. Precondition: the slot is free, its generation is not
  /// 0, and only the caller has it.
  RONDO_HD buffer_ref open(std::uint32_t slot, std::uint64_t bytes) const noexcept {
    return open(slot, bytes, 0);
  }
  /// The same for bytes of somebody else, for reading alone.
  buffer_ref open_foreign(std::uint32_t slot, std::byte const* base, std::uint64_t bytes,
                          lender& from) const noexcept {
    entries_[slot].base = const_cast<std::byte*>(base);  // nobody can lease it for writing
    entries_[slot].foreign = &from;
    return open(slot, bytes, buffer_word::foreign);
  }
  /// As `release`, but if this call frees the slot, sets `freed`: the caller then keeps the slot, which is not
  /// returned.
  RONDO_HD errc close(buffer_ref ref, bool& freed) const noexcept;
  /// Takes all returned slots for the caller: returns slot + 1 of the first; `next` links the others. 0: none.
  RONDO_HD std::uint32_t take_returned() const noexcept {
    if (returned_->load(memory_order::relaxed) == 0) return 0;  // relaxed: a hint; the exchange decides
    return returned_->exchange(0, memory_order::acquire);       // acquire: any end -> reuse
  }

 private:
  RONDO_HD void end_lease(buffer_ref ref, std::uint64_t lease) const noexcept;
  RONDO_HD buffer_ref open(std::uint32_t slot, std::uint64_t bytes, std::uint64_t kind) const noexcept;
  /// The caller has freed the slot, whose word was `before`.
  RONDO_HD void give_back_foreign(std::uint32_t slot, buffer_word before) const noexcept {
    if (before.is_foreign()) give_back_to(entries_[slot].foreign, slot);
  }
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

RONDO_HD inline buffer_ref buffer_table_ref::open(std::uint32_t slot, std::uint64_t bytes,
                                                  std::uint64_t kind) const noexcept {
  auto& entry = entries_[slot];
  // relaxed twice: only the caller has the slot, and readers read it only after they acquire the word
  auto const free = buffer_word{entry.word.load(memory_order::relaxed)};
  entry.bytes.store(bytes, memory_order::relaxed);
  entry.word.store(free.bits() | kind | buffer_word::live, memory_order::release);  // open -> lease
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
    if (word.is_foreign()) return errc::buffer_in_use;
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
      if (after.is_free()) give_back_foreign(slot_of(ref), buffer_word{bits});
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
      // Generation 0 follows the last one (B5). An unused table is at 0 too, but has issued no handle.
      bool const issued = word.generation() == 0 || ref.generation < word.generation() || word.leased();
      return issued ? errc::double_release : errc::stale_buffer;
    }
    auto const after = buffer_word{bits & ~buffer_word::live}.settled();
    // release: the owner's writes and reads end here; acquire: any end -> reuse
    if (entry.word.compare_exchange(bits, after.bits(), memory_order::acq_rel, memory_order::relaxed)) {
      freed = after.is_free();
      if (freed) give_back_foreign(slot, word);
      return errc::ok;
    }
  }
}

RONDO_HD inline void buffer_table_ref::push_returned(std::uint32_t slot) const noexcept {
  auto top = returned_->load(memory_order::relaxed);  // relaxed: the exchange decides
  do {
    entries_[slot].next.store(top, memory_order::relaxed);  // relaxed: published by the exchange
    // release: any end -> reuse. There are only pushes and take-all, so a recurring top is harmless.
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
