// A bounded ring across a bus: many writers on one side, one reader on the other, one writer per shared word.
//
// Items cross the bus in chunks of 8 bytes: 4 bytes of the item, and a tag made of its ticket. So each chunk says by
// itself whether it has arrived, and a reader that finds all chunks of an item has the item: it needs no second trip
// over the bus, and no order between chunks. (NCCL's LL protocol moves data between GPUs in the same way.)
//
// Ownership: `bus_ring_ref` owns nothing. The shared part (slots and `consumed`) is in memory that both sides reach:
// pinned host memory for a GPU. `bus_writers` is in the writers' own memory and never crosses the bus, so its
// read-modify-writes need no bus atomics. Zeroed memory is an empty ring.
// Threads: try_push from any thread of the writing side; bus_reader from one team of the reading side.
//
// Tickets count items in 63 bits, so they do not wrap in a machine's lifetime. Slot `ticket & mask` carries an item.
//
// Invariants, with B the ring's slots and T(ticket) the low 32 bits of ticket + 1
//  B1 A chunk with the tag T(ticket) holds its 4 bytes of the item of `ticket`.
//  B2 consumed <= ticket < consumed + B for every claimed ticket: no slot is written before its last item was read.
//  B3 Each shared word has one writer: the thread that claimed the ticket writes the slot, the reader `consumed`, and
//     one thread of the reader's side `abandoned`.
//  B4 The first chunk of a group's first item is written last. Whoever has acquired it finds the rest of the group.
//  B5 A closed ring issues no ticket: `tail` is final, and every ticket claimed before will be published.
//  B6 A full ring that its reader has abandoned is closed for its writers: none waits for room that nobody will make.
//     If a writer gave up the ticket for which it waited (`push`), nothing behind it will be read.
//  B7 No chunk is older than 2^32 tickets, so an equal tag means an equal ticket: an item uses only as many chunks as
//     it needs, but once in 2^31 tickets all chunks of each slot are written.
//
// Ordering
//  publish  the writer's release store of a first chunk -> the reader's acquire load of it, or the acquire fence behind
//           a relaxed one: the group, and all that the writer did before. A writer whose item is all that it has to say
//           stores it relaxed.
//  turn     a writer's exchange for a ticket -> the exchange for a later one.
//  The rest is relaxed. In particular `consumed` orders nothing: if a slot were written too early, its tags would show
//  it.
// ASSUMES: aligned 8-byte loads and stores of pinned memory are single-copy atomic across the bus, and a system-scope
// release makes the writes before it visible to the other side first.
#pragma once

#include "kernels/base/team.hpp"

namespace rondo {

/// A bus that shows every write as soon as the memory model allows. An emulated bus
/// (runtime/device/emulated/emulation.hpp) may delay writes; callers repeat each query until it returns true.
struct prompt_bus {
  /// The writers are host threads, and their processors combine writes to these slots without keeping them in order.
  bool combines_writes = false;

  /// The reader asks: is this ticket's item visible?
  RONDO_HD static constexpr bool shows(std::uint64_t) noexcept { return true; }
  /// The writer has written the rest of the group of this ticket, and is about to write its first item (B4).
  RONDO_HD void wrote(std::uint64_t) const noexcept {
    if (combines_writes) flush_writes();
  }
  /// The writer has written the whole group.
  RONDO_HD void published() const noexcept {
    if (combines_writes) flush_writes();
  }
  /// A writer asks: is the reader's progress visible?
  RONDO_HD static constexpr bool shows_room() noexcept { return true; }
};

/// How much of an Item crosses the bus: `words(item)` words of 4 bytes, at least `head_words`, from which alone it is
/// computed.
template <class Item>
struct bus_extent {
  static constexpr std::uint32_t head_words = sizeof(Item) / 4;
  RONDO_HD static constexpr std::uint32_t words(Item const&) noexcept { return head_words; }
};

template <class Item>
struct alignas(64) bus_slot {
  static constexpr std::uint32_t chunk_count = sizeof(Item) / 4;
  static_assert(sizeof(Item) % 4 == 0);

  atomic<std::uint64_t, scope::system> chunks[chunk_count];

  RONDO_HD static constexpr std::uint64_t tag(std::uint64_t ticket) noexcept { return (ticket + 1) << 32; }
  /// Whether this is a chunk of the item of `ticket`.
  RONDO_HD static constexpr bool is_of(std::uint64_t chunk, std::uint64_t ticket) noexcept {
    return ((chunk ^ tag(ticket)) >> 32) == 0;
  }
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
  /// first one's. Never blocks. Precondition: 1 <= count <= slot_count. What a writer did before it took an earlier
  /// ticket is seen by `fill` (the edge `turn`).
  template <class Fill>
  RONDO_HD push_outcome try_push(std::uint32_t count, Fill fill, std::uint64_t& ticket) const {
    auto const outcome = try_claim(count, ticket, memory_order::acq_rel);
    if (outcome != push_outcome::pushed) return outcome;
    for (auto i = count; i-- > 0;) {
      Item item;
      fill(i, item);
      if (i == 0) bus.wrote(ticket);
      // Release: the edge `publish`. Relaxed for the others of a group: B4.
      write(ticket + i, item, i == 0 ? memory_order::release : memory_order::relaxed);
    }
    bus.published();
    return push_outcome::pushed;
  }
  /// Writes one item. While the ring is full, calls wait() until there is room. False, and the item is dropped, if the
  /// reader has abandoned the full ring, or if wait() returns false: nothing is read any more then. `order`: release,
  /// or relaxed if the reader needs nothing else of what this thread has written. The ring must not be closed.
  template <class Wait>
  RONDO_HD bool push(Item const& item, memory_order order, Wait const& wait) const {
    std::uint64_t ticket = 0;
    if (!claim(ticket, wait)) return false;
    bus.wrote(ticket);
    write(ticket, item, order);
    bus.published();
    return true;
  }
#if defined(__CUDA_ARCH__)
  /// The same by all lanes of `t`, which share `item`; each writes some of its chunks. Without order.
  template <class Wait>
  __device__ void push_by_lanes(team const& t, Item const& item, Wait const& wait) const {
    std::uint64_t ticket = 0;
    bool const has_room = t.leader() && claim(ticket, wait);
    ticket = t.broadcast(has_room ? ticket : closed_bit);
    if (ticket == closed_bit) return;
    auto const* const words = reinterpret_cast<std::uint32_t const*>(&item);
    for (auto const w : lane_range{words_of(ticket, item), t.lane(), t.lanes()})
      slot(ticket).chunks[w].store(bus_slot<Item>::tag(ticket) | words[w], memory_order::relaxed);
  }
#endif

  // Relaxed, all of these: only tickets and a request. Chunks publish items, and nothing is read through the closed
  // bit.
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
    return progress->consumed.load(memory_order::relaxed);
  }

 private:
  RONDO_HD push_outcome try_claim(std::uint32_t count, std::uint64_t& ticket,
                                  memory_order turn) const noexcept {
    // Relaxed, the rest of it: the exchange validates the tail, and `consumed` orders nothing.
    auto tail = writers->tail.load(memory_order::relaxed);
    auto seen = writers->seen.load(memory_order::relaxed);
    for (;;) {
      if ((tail & closed_bit) != 0) return push_outcome::closed;
      if (!fits(tail, count, seen)) {
        auto const full = [&] {
          return progress->abandoned.load(memory_order::relaxed) != 0 ? push_outcome::closed
                                                                      : push_outcome::full;
        };
        if (!bus.shows_room()) return full();
        seen = progress->consumed.load(memory_order::relaxed);
        writers->seen.store(seen, memory_order::relaxed);  // an older value is harmless
        if (!fits(tail, count, seen)) return full();
      }
      if (writers->tail.compare_exchange(tail, tail + count, turn, memory_order::relaxed)) {
        ticket = tail;
        return push_outcome::pushed;
      }
    }
  }
  /// Takes a ticket, and waits until its slot is free.
  template <class Wait>
  RONDO_HD bool claim(std::uint64_t& ticket, Wait const& wait) const {
    // Relaxed, all: as in try_claim; the sum of additions needs no exchange to validate it.
    auto seen = writers->seen.load(memory_order::relaxed);
    ticket = writers->tail.fetch_add(1, memory_order::relaxed);
    while (!fits(ticket, 1, seen)) {
      if (bus.shows_room()) {
        seen = progress->consumed.load(memory_order::relaxed);
        writers->seen.store(seen, memory_order::relaxed);  // an older value is harmless
        if (fits(ticket, 1, seen)) break;
      }
      if (progress->abandoned.load(memory_order::relaxed) != 0 || !wait()) return false;
    }
    return true;
  }
  /// How many chunks of the slot are written (B7).
  RONDO_HD std::uint32_t words_of(std::uint64_t ticket, Item const& item) const noexcept {
    bool const whole = (ticket & 0x7fff'ffff) < slot_count;
    return whole ? bus_slot<Item>::chunk_count : bus_extent<Item>::words(item);
  }
  /// The first chunk last (B4).
  RONDO_HD void write(std::uint64_t ticket, Item const& item, memory_order order) const noexcept {
    using slot_type = bus_slot<Item>;
    auto& chunks = slot(ticket).chunks;
    auto const words = words_of(ticket, item);
    constexpr std::uint32_t step = slot_type::chunk_count % 4 == 0 ? 4 : 1;  // words that are read at once
    auto const* const bytes = reinterpret_cast<std::byte const*>(&item);
    RONDO_UNROLL
    for (auto first = slot_type::chunk_count; first != 0;) {
      first -= step;
      if (first >= words) continue;
      std::uint32_t some[step];
      // Without the alignment, nvcc would copy byte by byte.
      constexpr auto aligned = step * 4 < alignof(Item) ? step * 4 : alignof(Item);
      __builtin_memcpy(some, __builtin_assume_aligned(bytes + first * 4, aligned), sizeof some);
      RONDO_UNROLL
      for (auto i = step; i-- > 0;)
        chunks[first + i].store(slot_type::tag(ticket) | some[i],
                                first + i == 0 ? order : memory_order::relaxed);
    }
  }
  /// B2. Signed: `consumed` may be newer than the tail; then the claim's exchange fails.
  RONDO_HD bool fits(std::uint64_t tail, std::uint32_t count, std::uint64_t consumed) const noexcept {
    return static_cast<std::int64_t>(tail + count - consumed) <= static_cast<std::int64_t>(slot_count);
  }
};

/// The reading end of a ring, for one thread or for all lanes of a warp. A new reader continues where the last one
/// published its progress.
template <class Item, class Bus = prompt_bus>
class bus_reader {
  using slot_type = bus_slot<Item>;

 public:
  static constexpr std::uint32_t window = 16;  // the most items of one fetch

  RONDO_HD explicit bus_reader(bus_ring_ref<Item, Bus> const& ring) noexcept
      : ring_(ring),
        head_(ring.progress->consumed.load(memory_order::relaxed)) {}  // relaxed: this side's own word

  /// Copies items to `to`, which all lanes of `t` share: from the head on, those that have arrived in a row, at most
  /// `most`, and at most `window`. Returns how many. All lanes call it together. The one trip over the bus that finds
  /// them brings them.
  RONDO_HD std::uint32_t fetch(team const& t, Item* to, std::uint32_t most) const {
    return fetch_from(head_, false, t, to, most);
  }
  /// The same for one thread and one item.
  RONDO_HD bool fetch(Item& to) const { return fetch(team{0}, &to, 1) == 1; }
  /// Copies the items from `first` on of the group at the head, `count` of them, at most `window`. Precondition: its
  /// first item was fetched; so the others are there (B4), and this is true.
  RONDO_HD bool read_group(team const& t, Item* to, std::uint32_t first, std::uint32_t count) const {
    return fetch_from(head_ + first, true, t, to, count) == count;
  }
  RONDO_HD void advance(std::uint32_t count) noexcept { head_ += count; }
  /// Gives the slots of all tickets below the head, and of `more` from the head on, back to the writers.
  RONDO_HD void publish(std::uint32_t more = 0) noexcept {
    if (head_ + more <= published_) return;
    published_ = head_ + more;
    ring_.progress->consumed.store(published_, memory_order::relaxed);
  }
  /// The next ticket.
  RONDO_HD std::uint64_t head() const noexcept { return head_; }
  /// Whether the next item was published, even if the bus does not show it yet. A hint, unless the caller knows of the
  /// item.
  RONDO_HD bool was_published() const noexcept {
    return slot_type::is_of(ring_.slot(head_).chunks[0].load(memory_order::relaxed), head_);
  }

 private:
  RONDO_HD std::uint32_t fetch_from(std::uint64_t first, bool is_known, [[maybe_unused]] team const& t,
                                    Item* to, std::uint32_t most) const {
#if defined(__CUDA_ARCH__)
    if (t.lanes() != 1)
      return most == 1 ? fetch_by_warp<1>(first, t, to, 1) : fetch_by_warp<window>(first, t, to, most);
#endif
    std::uint32_t n = 0;
    while (n < most && (is_known || ring_.bus.shows(first + n)) && fetch_one(first + n, to[n])) ++n;
    return n;
  }

  RONDO_HD bool fetch_one(std::uint64_t ticket, Item& to) const noexcept {
    auto const& chunks = ring_.slot(ticket).chunks;
    auto words = bus_extent<Item>::head_words;
    for (std::uint32_t w = 0; w < words; ++w) {
      // Acquire: the edge `publish`.
      auto const chunk = chunks[w].load(w == 0 ? memory_order::acquire : memory_order::relaxed);
      if (!slot_type::is_of(chunk, ticket)) return false;
      auto const word = static_cast<std::uint32_t>(chunk);
      __builtin_memcpy(reinterpret_cast<std::byte*>(&to) + std::size_t{w} * 4, &word, sizeof word);
      if (w + 1 == bus_extent<Item>::head_words) words = bus_extent<Item>::words(to);
    }
    return true;
  }

#if defined(__CUDA_ARCH__)
  /// Looks at `Slots` slots. All loads are in flight together. They are relaxed, and a fence acquires what they have
  /// found: an acquire load would not order those before it, and an idle team's would empty its neighbours' L1.
  template <std::uint32_t Slots>
  __device__ std::uint32_t fetch_by_warp(std::uint64_t first, team const& t, Item* to,
                                         std::uint32_t most) const {
    constexpr std::uint32_t lanes = hardware::warp_lanes, chunks = slot_type::chunk_count,
                            rows = (chunks + lanes - 1) / lanes;
    // Copies, which stay in registers: objects that others may see would be read again after each load.
    auto const ring = ring_;
    team const warp{t.index(), t.lane(), lanes, *t.shared()};
    auto const lane = warp.lane();
    // A lane without a chunk of its own loads and stores the last one, too: a branch would make the loads wait for each
    // other.
    auto const word = [lane](std::uint32_t row) {
      auto const w = row * lanes + lane;
      return w < chunks ? w : chunks - 1;
    };
    warp.sync();  // no lane reads `to` any more; and loads of the others would hold up a lane that is still at work
    std::uint64_t seen[Slots][rows];
    RONDO_UNROLL
    for (auto n = Slots; n-- > 0;) {
      auto& slot = ring.slot(first + n);
      RONDO_UNROLL
      for (auto row = rows; row-- > 0;) seen[n][row] = slot.chunks[word(row)].load(memory_order::relaxed);
    }
    if (!warp.broadcast(slot_type::is_of(seen[0][0], first))) return 0;
    atomic_fence<scope::system>(memory_order::acquire);  // the edge `publish` of all items
    RONDO_UNROLL
    for (std::uint32_t n = 0; n < Slots; ++n) {
      auto* const words = reinterpret_cast<std::uint32_t*>(to + n);
      RONDO_UNROLL
      for (std::uint32_t row = 0; row < rows; ++row)
        words[word(row)] = static_cast<std::uint32_t>(seen[n][row]);
    }
    warp.sync();
    std::uint32_t missing = 1u << most;
    RONDO_UNROLL
    for (std::uint32_t n = 0; n < Slots; ++n) {
      // If a head has not arrived, its number of words may be wrong, and its own chunks say so.
      auto const words = max(bus_extent<Item>::head_words, bus_extent<Item>::words(to[n]));
      RONDO_UNROLL
      for (std::uint32_t row = 0; row < rows; ++row) {
        bool const is_there = word(row) >= words || slot_type::is_of(seen[n][row], first + n);
        if (!is_there) missing |= 1u << n;
      }
    }
    return static_cast<std::uint32_t>(lowest_bit(warp.any_bits(missing)));
  }
#endif

  bus_ring_ref<Item, Bus> ring_;
  std::uint64_t head_;
  std::uint64_t published_ = head_;
};

}  // namespace rondo
