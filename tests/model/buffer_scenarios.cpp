// Buffers that several threads lease, release and reuse; the stacks of free slots.
#include "kernels/base/park.hpp"
#include "runtime/memory/slot_stack.hpp"
#include "tests/model/scenarios.hpp"

namespace model {

using namespace rondo;

namespace {

/// A table and the memory of its buffers. In each use of a slot all of its data holds the generation.
class buffer_world {
 public:
  static constexpr std::uint64_t bytes = 2 * sizeof(std::uint64_t);

  buffer_world(execution& x, std::uint32_t slots)
      : x_(x),
        entries_(reinterpret_cast<buffer_entry*>(x.memory(slots * sizeof(buffer_entry), 64))),
        table_(entries_, slots, &x.shared<atomic<std::uint32_t, scope::system>>()),
        data_(x.memory(slots * bytes, 64)) {
    for (std::uint32_t s = 0; s < slots; ++s)
      entries_[s].word.store(buffer_word::free_at(1).bits(), memory_order::relaxed);
  }

  buffer_table_ref const& table() const noexcept { return table_; }

  /// Works as a pool does: binds memory to a free slot that only the caller has, fills it and opens it.
  buffer_ref use(std::uint32_t slot) {
    auto& entry = entries_[slot];
    auto const generation = buffer_word{entry.word.load(memory_order::relaxed)}.generation();
    entry.base = data_ + slot * bytes;
    entry.where = place::host;
    auto* const words = reinterpret_cast<std::uint64_t*>(entry.base);
    words[0] = words[1] = generation;
    return table_.open(slot, bytes);
  }
  /// Slot + 1 of a returned slot; 0: none. There must be no others.
  std::uint32_t take_one_returned() {
    auto const first = table_.take_returned();
    if (first != 0)
      x_.require(entries_[first - 1].next.load(memory_order::relaxed) == 0, "no other slot was returned");
    return first;
  }
  /// Reads through a lease, if one is available. The data must belong to the use that the handle names.
  errc read(buffer_ref ref) {
    buffer_view<std::uint64_t const> view;
    auto const outcome = table_.try_read(ref, view);
    if (outcome != errc::ok) return outcome;
    x_.require(view[0] == ref.generation && view[1] == ref.generation, "a handle reads its own use's data");
    table_.end_read(ref);
    return errc::ok;
  }

 private:
  execution& x_;
  buffer_entry* entries_;
  buffer_table_ref table_;
  std::byte* data_;
};

/// Writers and readers of one buffer: plain accesses under leases never overlap.
void leases_exclude(execution& x) {
  buffer_world w{x, 1};
  auto const ref = w.use(0);
  for (auto const* name : {"writer 0", "writer 1"})
    x.thread(name, [&] {
      buffer_view<std::uint64_t> view;
      while (w.table().try_write(ref, view) != errc::ok) relax();
      x.require(view[0] == view[1], "a writer is alone");
      ++view[0];
      ++view[1];
      w.table().end_write(ref);
    });
  x.thread("reader", [&] {
    buffer_view<std::uint64_t const> view;
    for (int i = 0; i < 2; ++i) {
      while (w.table().try_read(ref, view) != errc::ok) relax();
      x.require(view[0] == view[1], "no reader sees half of a write");
      w.table().end_read(ref);
    }
  });
  x.run();
  x.require(*reinterpret_cast<std::uint64_t*>(w.table().entry(0).base) == 1 + 2, "no write is lost");
}

/// An owner releases while readers lease the buffer; a pool takes the slot back and reuses it. The handle's numbers
/// reach the readers without any order, as a guessed number would.
void reuse_waits_for_leases(execution& x) {
  buffer_world w{x, 1};
  auto& uses = x.shared<atomic<std::uint32_t>>();
  x.thread("owner", [&] {
    auto const ref = w.use(0);
    uses.store(1, memory_order::relaxed);
    w.read(ref);
    x.require(w.table().entry(0).where == place::host, "an owner may look at its buffer's place");
    x.require(w.table().release(ref) == errc::ok, "the only release");
  });
  x.thread("pool", [&] {
    std::uint32_t returned = 0;
    while ((returned = w.take_one_returned()) == 0) relax();
    auto const ref = w.use(returned - 1);
    x.require(ref.generation == 2, "each use has a generation of its own");
    uses.store(2, memory_order::relaxed);
  });
  x.thread("reader", [&] {
    while (uses.load(memory_order::relaxed) == 0) relax();
    buffer_ref const first{0, 1, 0, buffer_world::bytes}, second{0, 2, 0, buffer_world::bytes};
    w.read(first);
    bool const there = w.read(second) == errc::ok;
    x.require(!there || w.read(first) == errc::stale_buffer, "a handle of an earlier use stays stale");
  });
  x.run();
  x.require(w.table().take_returned() == 0, "the slot came back once");
}

/// Two threads release the same buffer, while a third one may hold a lease.
void one_release_wins(execution& x) {
  buffer_world w{x, 1};
  auto const ref = w.use(0);
  auto& outcomes = x.shared<atomic<std::uint32_t>>();  // {double releases, releases}
  for (auto const* name : {"owner 0", "owner 1"})
    x.thread(name, [&] {
      auto const outcome = w.table().release(ref);
      x.require(outcome == errc::ok || outcome == errc::double_release, "one of the two");
      outcomes.fetch_add(outcome == errc::ok ? 1 : 0x100, memory_order::relaxed);
    });
  x.thread("reader", [&] {
    auto const outcome = w.read(ref);
    x.require(outcome == errc::ok || outcome == errc::stale_buffer, "no writer stands in the way");
  });
  x.run();
  x.require(outcomes.load(memory_order::relaxed) == 0x101, "one release wins, the other one is told so");
  x.require(w.take_one_returned() == 1 && w.table().take_returned() == 0, "the slot came back once");
  x.require(buffer_word{w.table().entry(0).word.load(memory_order::relaxed)}.bits() ==
                buffer_word::free_at(2).bits(),
            "free, for the next generation");
}

/// Two readers lease a block of somebody else while its owner releases it. The lender writes it as soon as it is back.
void foreign_goes_back(execution& x) {
  buffer_world w{x, 1};
  struct lending : lender {
    std::uint64_t* words;
    std::uint32_t times;
  };
  auto* const words = reinterpret_cast<std::uint64_t*>(x.memory(buffer_world::bytes, 64));
  lending from{{[](lender& self, std::uint32_t slot) noexcept {
                 auto& mine = static_cast<lending&>(self);
                 mine.words[slot] = 7;
                 ++mine.times;
               }},
               words,
               0};
  words[0] = words[1] = 1;
  auto const ref = w.table().open_foreign(0, reinterpret_cast<std::byte*>(words), buffer_world::bytes, from);
  for (auto const* name : {"reader 0", "reader 1"})
    x.thread(name, [&] {
      auto const outcome = w.read(ref);
      x.require(outcome == errc::ok || outcome == errc::stale_buffer, "no writer stands in the way");
      buffer_view<std::uint64_t> view;
      x.require(w.table().try_write(ref, view) != errc::ok, "nobody writes a foreign block");
    });
  x.thread("owner", [&] { x.require(w.table().release(ref) == errc::ok, "the only release"); });
  x.run();
  x.require(from.times == 1, "the block went back once");
  x.require(w.take_one_returned() == 1 && w.table().take_returned() == 0, "the slot came back once");
  x.require(w.use(0).generation == 2 && from.times == 1, "the slot's next block may be the pool's own");
}

/// Each slot that two threads free reaches the pool once, with all writes made under its leases.
void returned_slots_arrive(execution& x) {
  buffer_world w{x, 2};
  for (std::uint32_t s = 0; s < 2; ++s) {
    auto const ref = w.use(s);
    x.thread(s == 0 ? "owner 0" : "owner 1", [&w, &x, ref] {
      w.read(ref);
      x.require(w.table().release(ref) == errc::ok, "the only release");
    });
  }
  x.thread("pool", [&] {
    std::uint32_t seen = 0;
    while (seen != 3) {
      auto next = w.table().take_returned();
      if (next == 0) relax();
      while (next != 0) {
        auto const slot = next - 1;
        next = w.table().entry(slot).next.load(memory_order::relaxed);
        x.require((seen & 1u << slot) == 0, "a slot is returned once");
        seen |= 1u << slot;
        x.require(w.use(slot).generation == 2, "free");
      }
    }
  });
  x.run();
}

/// Three threads take slots from a stack and return them, so that the top recurs.
void stack_gives_each_slot_to_one(execution& x, std::uint32_t slots) {
  buffer_world w{x, slots};
  auto& stack = x.shared<slot_stack>();
  auto* const uses = reinterpret_cast<std::uint32_t*>(
      x.memory(slots * 64, 64));  // not atomic: counts the uses of each slot by its holder
  auto& in_hand = *reinterpret_cast<atomic<std::uint32_t>*>(x.memory(64, 64));  // one bit for each slot
  for (std::uint32_t s = 0; s < slots; ++s) stack.push(w.table(), s);
  for (auto const* name : {"thread 0", "thread 1", "thread 2"})
    x.thread(name, [&w, &x, &stack, &in_hand, uses] {
      for (int turn = 0; turn < 2; ++turn) {
        std::uint32_t mine[2];
        for (auto& slot : mine) {
          slot = stack.pop(w.table());
          if (slot == slot_stack::none) continue;
          x.require((in_hand.fetch_or(1u << slot, memory_order::relaxed) & 1u << slot) == 0,
                    "a slot is in one hand at a time");
          ++uses[slot * 16];
        }
        for (auto const slot : mine) {
          if (slot == slot_stack::none) continue;
          in_hand.fetch_and(~(1u << slot), memory_order::relaxed);
          stack.push(w.table(), slot);
        }
      }
    });
  x.run();
  for (std::uint32_t s = 0; s < slots; ++s)
    x.require(stack.pop(w.table()) != slot_stack::none, "no slot is lost");
  x.require(stack.pop(w.table()) == slot_stack::none, "no slot is there twice");
}
void stack_of_three(execution& x) { stack_gives_each_slot_to_one(x, 3); }

}  // namespace

std::vector<scenario> buffer_scenarios() {
  return {
      {"buffer_leases",
       "two writers and a reader: a lease for writing is exclusive, and what was written is read",
       leases_exclude, bounds{2, 1, 1}, bounds{2, 1}},
      {"buffer_reuse",
       "a slot is used again only after all of its leases ended, and no old handle reads new data",
       reuse_waits_for_leases, bounds{2, 1, 1}, bounds{2, 1}},
      {"buffer_release", "of two releases one wins, and the slot is returned once", one_release_wins,
       bounds{3, 1, 1}, bounds{2, 1, 1}},
      {"buffer_foreign",
       "a block of somebody else goes back once, when nobody reads it any more, and is never written",
       foreign_goes_back, bounds{2, 1, 1}, bounds{2, 1}},
      {"buffer_returned", "slots that several threads free reach the pool, each once", returned_slots_arrive,
       bounds{2, 1, 1}, bounds{2, 1}},
      {"slot_stack", "a slot is in the stack or in one thread's hand, and is never lost", stack_of_three,
       bounds{2, 1}, bounds{1, 1}},
  };
}

}  // namespace model
