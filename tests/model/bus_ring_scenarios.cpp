// One ring across a bus: its writers, its reader, closing and reopening.
#include "tests/model/arena_world.hpp"
#include "tests/model/bus_world.hpp"
#include "tests/model/scenarios.hpp"

namespace model {

namespace {

/// Pushes one note; returns `full` unchanged.
push_outcome push(bus_ring_ref<note> const& ring, note n) {
  std::uint64_t ticket = 0;
  return ring.try_push(
      1, [n](std::uint32_t, note& to) { to = n; }, ticket);
}

/// Two writers fill a ring of two slots repeatedly. `waits`: they take their tickets first, and then wait for room.
void ring_carries_everything(execution& x, std::uint64_t first, bool waits = false) {
  auto const ring = make_ring<note>(x, 2, first);
  static constexpr std::uint32_t each = 2;
  for (std::uint32_t s = 0; s < 2; ++s)
    x.thread(s == 0 ? "writer 0" : "writer 1", [&x, ring, s, waits] {
      for (std::uint32_t n = 0; n < each;) {
        if (waits) {
          x.require(ring.push({s, n}, memory_order::release, [] { return relax(), true; }),
                    "the ring has a reader");
          ++n;
        } else if (push(ring, {s, n}) == push_outcome::pushed) {
          ++n;
        } else {
          relax();
        }
      }
    });
  auto& book = x.shared<ledger>();
  x.thread("reader", [&x, ring, &book] {
    bus_reader<note> in{ring};
    while (book.taken < 2 * each) {
      if (note n; in.fetch(n)) {
        book.enter(x, n);
        in.advance(1);
        in.publish();
      } else {
        relax();
      }
    }
    x.require(!in.was_published(), "an item was published twice");
  });
  x.run();
}
void ring_from_zero(execution& x) { ring_carries_everything(x, 0); }
void ring_whose_writers_wait(execution& x) { ring_carries_everything(x, 0xffff'fffeull, true); }
/// The low 32 bits of the ticket, which a slot's sequence holds, pass zero.
void ring_across_overflow(execution& x) { ring_carries_everything(x, 0xffff'ffffull); }

/// A group arrives whole, although only its first slot is published; the reader returns it at once.
void groups_arrive_whole(execution& x) {
  auto const ring = make_ring<note>(x, 4);
  x.thread("group", [&x, ring] {
    for (std::uint32_t first = 0; first < 6;) {
      std::uint64_t ticket = 0;
      auto const fill = [first](std::uint32_t i, note& to) { to = {0, first + i}; };
      if (ring.try_push(3, fill, ticket) == push_outcome::pushed)
        first += 3;
      else
        relax();
    }
  });
  x.thread("single", [ring] {
    while (push(ring, {1, 0}) != push_outcome::pushed) relax();
  });
  auto& book = x.shared<ledger>();
  x.thread("reader", [&x, ring, &book] {
    bus_reader<note> in{ring};
    while (book.taken < 7) {
      note n;
      if (!in.fetch(n)) {
        relax();
        continue;
      }
      auto const size = n.sender == 0 ? 3u : 1u;
      for (std::uint32_t i = 0; i < size; ++i) {
        x.require(in.read_group(team{0}, &n, i, 1), "a group arrives whole");
        book.enter(x, n);
      }
      in.advance(size);
      in.publish();
    }
  });
  x.run();
}

/// Who has an item also sees what its writer did before, if the writer says so; and the item alone otherwise.
void items_say_all(execution& x, memory_order order) {
  auto const ring = make_ring<note>(x, 2);
  auto& before = x.shared<std::uint32_t>();
  x.thread("writer", [&x, ring, &before, order] {
    if (order == memory_order::release) before = 7;
    for (std::uint32_t n = 0; n < 3; ++n)
      x.require(ring.push(note{n + 1, n}, order, [] { return relax(), true; }), "the ring has a reader");
  });
  x.thread("reader", [&x, ring, &before, order] {
    bus_reader<note> in{ring};
    for (std::uint32_t n = 0; n < 3;) {
      note found;
      if (!in.fetch(found)) {
        relax();
        continue;
      }
      x.require(found.sender == n + 1 && found.number == n, "an item arrives whole and in its turn");
      if (order == memory_order::release) x.require(before == 7, "what the writer did before is visible");
      in.advance(1);
      in.publish();
      ++n;
    }
  });
  x.run();
}
void items_with_what_was_before(execution& x) { items_say_all(x, memory_order::release); }
void items_alone(execution& x) { items_say_all(x, memory_order::relaxed); }

/// The reader closes the ring, takes items that were claimed before, and reopens the ring.
void closing_loses_nothing(execution& x) {
  auto const ring = make_ring<note>(x, 2);
  for (std::uint32_t s = 0; s < 2; ++s)
    x.thread(s == 0 ? "writer 0" : "writer 1", [ring, s] {
      for (std::uint32_t n = 0; n < 2;) {
        if (push(ring, {s, n}) == push_outcome::pushed)
          ++n;
        else
          relax();
      }
    });
  auto& book = x.shared<ledger>();
  x.thread("reader", [&x, ring, &book] {
    bus_reader<note> in{ring};
    auto const take = [&] {
      if (note n; in.fetch(n)) {
        book.enter(x, n);
        in.advance(1);
        in.publish();
      } else {
        relax();
      }
    };
    while (book.taken < 1) take();
    auto const last = ring.close();
    x.require(last == ring.tail(), "the tail of a closed ring is final");
    while (in.head() < last) take();
    x.require(book.taken == last && !in.was_published(), "no ticket was given out after the close");
    ring.reopen();
    while (book.taken < 4) take();
  });
  x.run();
}

}  // namespace

std::vector<scenario> bus_ring_scenarios() {
  return {
      {"bus_ring", "two writers and a reader: no item is lost, doubled, overtaken or overwritten",
       ring_from_zero, bounds{2, 1, 1}, bounds{2, 1}},
      {"bus_ring_overflow", "the same while the sequence numbers overflow", ring_across_overflow,
       bounds{2, 1, 1}, bounds{2, 1}},
      {"bus_ring_waits",
       "the same if writers take tickets before there is room",
       ring_whose_writers_wait,
       bounds{2, 1, 1},
       {}},
      {"bus_ring_group", "a group of items arrives whole and in a row", groups_arrive_whole, bounds{2, 1, 1},
       bounds{2, 1}},
      {"bus_ring_release", "an item comes with all that its writer did before", items_with_what_was_before,
       bounds{2, 2, 1}},
      {"bus_ring_relaxed", "an item that is written without order arrives whole", items_alone,
       bounds{2, 2, 1}},
      {"bus_ring_close", "a closed ring gives out no ticket, and what was claimed before arrives",
       closing_loses_nothing, bounds{2, 1, 1}, bounds{2, 1}},
  };
}

}  // namespace model
