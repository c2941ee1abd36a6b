// A bounded ring across a bus: many writers on one side, one reader on the other, one writer per shared word.
//
// Ownership: `bus_ring_ref` owns nothing. The shared part (slots and `consumed`) is in memory that both sides reach: pinned host
// memory for a GPU. `bus_writers` is in the writers' own memory and never crosses the bus, so its read-modify-writes need no
// bus atomics. Zeroed memory is an empty ring.
// Threads: try_push from any thread of the writing side; bus_reader from one thread of the reading side.
//
// Tickets count items in 63 bits, so they do not wrap in a machine's lifetime. Slot `ticket & mask` carries an item.
//
// Invariants, with B the ring's slots and S the low 32 bits that a slot's sequence holds
//  B1 S == ticket + 1 (modulo 2^32): the item of `ticket` is present, and so is the rest of its group.
//  B2 consumed <= ticket < consumed + B for every claimed ticket: no slot is written while it may be read.
//  B3 Each shared word has one writer: the thread that claimed the ticket writes slot and sequence, the reader `consumed`, and
//     one thread of the reader's side `abandoned`.
//  B4 A group's first slot is published last; the reader reads no other sequence of the group.
//  B5 A closed ring issues no ticket: `tail` is final, and every ticket claimed before will be published.
//  B6 A full ring that its reader has abandoned is closed for its writers: none waits for room that nobody will make.
//
// Ordering
//  publish  the writer's release store of S -> the reader's acquire load of it: the items of the group.
//  reuse    the reader's release store of `consumed` -> a writer's acquire load of it, passed to other writers by the release
//           store and acquire load of `seen`: the reader has finished reading.
// ASSUMES: aligned 4- and 8-byte loads and stores of pinned memory are single-copy atomic across the bus, and a system-scope
// release makes the writes before it visible to the other side first.
#pragma once

#include "kernels/base/atomic.hpp"

namespace rondo {

/// A bus that shows every write as soon as the memory model allows. An emulated bus
/// (runtime/device/emulated/emulation.hpp) may delay writes; callers repeat each query until it returns true.
struct prompt_bus {
  /// The writers are host threads, and their processors combine writes to these slots without keeping them in order.
  bool combines_writes = false;

  RONDO_HD static constexpr bool shows(std::uint64_t) noexcept {
    return true;
  }                                                    // reader: is this ticket's item visible?
  RONDO_HD void wrote(std::uint64_t) const noexcept {  // writer: about to publish this ticket
    if (combines_writes) flush_writes();
  }
  RONDO_HD void published() const noexcept {  // writer: has published
    if (combines_writes) flush_writes();
  }
  RONDO_HD static constexpr bool shows_room() noexcept { return true; }  // writer: the reader's progress?
};

template <class Item>
struct alignas(64) bus_slot {
  atomic<std::uint32_t, scope::system> sequence;
  alignas(16) Item item;
};

/// Written only by the reader's side.
struct alignas(64) bus_progress {
  atomic<std::uint64_t, scope::system> consumed;   // the reader has finished with all lower tickets
  atomic<std::uint32_t, scope::system> abandoned;  // 1: nobody reads any more
};

/// The reader's side never touches it.
struct bus_writers {
  alignas(64) atomic<std::uint64_t> tail;  // the next ticket; the top bit: closed
  alignas(64) atomic<std::uint64_t> seen;  // a `consumed` that some writer has read
};

enum class push_outcome : std::uint32_t { pushed, full, closed };

template <class Item, class Bus = prompt_bus>
struct bus_ring_ref {
  static constexpr std::uint64_t closed_bit = 1ull << 63;

  bus_slot<Item>* slots = nullptr;
  bus_progress* progress = nullptr;
  bus_writers* writers = nullptr;
  std::uint32_t slot_count = 0;  // a power of two
  Bus bus{};

  RONDO_HD bus_slot<Item>& slot(std::uint64_t ticket) const noexcept {
    return slots[ticket & (slot_count - 1)];
  }

  /// Writes `count` items with fill(i, item) and publishes them as one group, all or none. Sets `ticket` to the
  /// first one's. Never blocks. Precondition: 1 <= count <= slot_count.
  template <class Fill>
  RONDO_HD push_outcome try_push(std::uint32_t count, Fill fill, std::uint64_t& ticket) const {
    auto const outcome = try_claim(count, ticket);
    if (outcome != push_outcome::pushed) return outcome;
    for (auto i = count; i-- > 0;) {
      auto& s = slot(ticket + i);
      fill(i, s.item);
      if (i == 0) bus.wrote(ticket);
      // Release: the edge `publish`. Relaxed for the others of a group: B4.
      s.sequence.store(static_cast<std::uint32_t>(ticket + i + 1),
                       i == 0 ? memory_order::release : memory_order::relaxed);
    }
    bus.published();
    return push_outcome::pushed;
  }

  // Relaxed, these four: only tickets and a request. A slot's sequence publishes its item, and nothing is read through the
  // closed bit.
  /// Issues no more tickets. Returns the number of tickets issued so far.
  RONDO_HD std::uint64_t close() const noexcept {
    return writers->tail.fetch_or(closed_bit, memory_order::relaxed) & ~closed_bit;
  }
  RONDO_HD void reopen() const noexcept { writers->tail.fetch_and(~closed_bit, memory_order::relaxed); }
  /// The reader's side: from now on, pushes into a full ring fail with `closed` (B6).
  RONDO_HD void abandon(bool abandoned) const noexcept {
    progress->abandoned.store(abandoned, memory_order::relaxed);
  }
  /// Writers' side: the number of tickets issued.
  RONDO_HD std::uint64_t tail() const noexcept {
    return writers->tail.load(memory_order::relaxed) & ~closed_bit;
  }
  /// Either side: the number of tickets that the reader has finished with.
  RONDO_HD std::uint64_t count_consumed() const noexcept {
    return progress->consumed.load(memory_order::relaxed);  // relaxed: a statistic
  }
  /// Whether the reader has finished with `ticket`. If so, what it did is visible to the caller.
  RONDO_HD bool consumed(std::uint64_t ticket) const noexcept {
    return progress->consumed.load(memory_order::acquire) > ticket;  // the edge `reuse`
  }

 private:
  RONDO_HD push_outcome try_claim(std::uint32_t count, std::uint64_t& ticket) const noexcept {
    auto tail = writers->tail.load(memory_order::relaxed);  // relaxed: validated by the exchange
    for (;;) {
      if ((tail & closed_bit) != 0) return push_outcome::closed;
      if (!fits(tail, count, writers->seen.load(memory_order::acquire))) {  // the edge `reuse`, passed on
        auto const full = [&] {
          return progress->abandoned.load(memory_order::relaxed) != 0 ? push_outcome::closed
                                                                      : push_outcome::full;
        };
        if (!bus.shows_room()) return full();
        auto const consumed = progress->consumed.load(memory_order::acquire);  // the edge `reuse`
        writers->seen.store(consumed, memory_order::release);                  // an older value is harmless
        if (!fits(tail, count, consumed)) return full();
      }
      // Relaxed: only the claim. The slot's last read was acquired above; the sequence publishes its
      // item.
      if (writers->tail.compare_exchange(tail, tail + count, memory_order::relaxed, memory_order::relaxed)) {
        ticket = tail;
        return push_outcome::pushed;
      }
    }
  }
  /// B2. Signed: `consumed` may be newer than the tail; then the claim's exchange fails.
  RONDO_HD bool fits(std::uint64_t tail, std::uint32_t count, std::uint64_t consumed) const noexcept {
    return static_cast<std::int64_t>(tail + count - consumed) <= static_cast<std::int64_t>(slot_count);
  }
};

/// The reading end of a ring. A new reader continues where the last one published its progress.
template <class Item, class Bus = prompt_bus>
class bus_reader {
 public:
  RONDO_HD explicit bus_reader(bus_ring_ref<Item, Bus> const& ring) noexcept
      : ring_(ring),
        head_(ring.progress->consumed.load(memory_order::relaxed)) {}  // relaxed: this side's own word

  /// The item at the head, followed by its group (`at`), or null. Valid until `publish` after `advance`.
  RONDO_HD Item const* peek() const noexcept {
    return was_published() && ring_.bus.shows(head_) ? &ring_.slot(head_).item : nullptr;
  }
  RONDO_HD Item const& at(std::uint32_t i) const noexcept { return ring_.slot(head_ + i).item; }
  RONDO_HD void advance(std::uint32_t count) noexcept { head_ += count; }
  /// Gives the slots of all tickets below the head back to the writers.
  RONDO_HD void publish() const noexcept {
    ring_.progress->consumed.store(head_, memory_order::release);
  }  // `reuse`
  /// The next ticket.
  RONDO_HD std::uint64_t head() const noexcept { return head_; }
  /// Whether the next item was published, even if the bus does not show it yet.
  RONDO_HD bool was_published() const noexcept {
    // Acquire: the edge `publish`.
    return ring_.slot(head_).sequence.load(memory_order::acquire) == static_cast<std::uint32_t>(head_ + 1);
  }

 private:
  bus_ring_ref<Item, Bus> ring_;
  std::uint64_t head_;
};

}  // namespace rondo
