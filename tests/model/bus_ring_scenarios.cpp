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

/// Two writers fill a ring of two slots repeatedly.
void ring_carries_everything(execution& x, std::uint64_t first) {
  auto const ring = make_ring<note>(x, 2, first);
  static constexpr std::uint32_t each = 2;
  for (std::uint32_t s = 0; s < 2; ++s)
    x.thread(s == 0 ? "writer 0" : "writer 1", [ring, s] {
      for (std::uint32_t n = 0; n < each;) {
        if (push(ring, {s, n}) == push_outcome::pushed)
          ++n;
        else
          relax();
      }
    });
  auto& book = x.shared<ledger>();
  x.thread("reader", [&x, ring, &book] {
    bus_reader<note> in{ring};
    while (book.taken < 2 * each) {
      if (note const* const n = in.peek()) {
        book.enter(x, *n);
        in.advance(1);
        in.publish();
      } else {
        relax();
      }
    }
    x.require(in.peek() == nullptr, "an item was published twice");
  });
  x.run();
}
void ring_from_zero(execution& x) { ring_carries_everything(x, 0); }
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
      note const* const n = in.peek();
      if (n == nullptr) {
        relax();
        continue;
      }
      auto const size = n->sender == 0 ? 3u : 1u;
      for (std::uint32_t i = 0; i < size; ++i) book.enter(x, in.at(i));
      in.advance(size);
      in.publish();
    }
  });
  x.run();
}

/// A writer that sees its item consumed also sees the reader's writes.
void consumed_is_done(execution& x) {
  auto const ring = make_ring<note>(x, 2);
  auto& answer = x.shared<std::uint32_t>();
  x.thread("writer", [&x, ring, &answer] {
    std::uint64_t ticket = 0;
    x.require(ring.try_push(
                  1,
                  [](std::uint32_t, note& to) {
                    to = {0, 7};
                  },
                  ticket) == push_outcome::pushed,
              "there is room");
    while (!ring.consumed(ticket)) relax();
    x.require(answer == 7, "what the reader did is visible");
  });
  x.thread("reader", [ring, &answer] {
    bus_reader<note> in{ring};
    while (in.peek() == nullptr) relax();
    answer = in.peek()->number;
    in.advance(1);
    in.publish();
  });
  x.run();
}

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
      if (note const* const n = in.peek()) {
        book.enter(x, *n);
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
    x.require(book.taken == last && in.peek() == nullptr, "no ticket was given out after the close");
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
      {"bus_ring_group", "a group of items arrives whole and in a row", groups_arrive_whole, bounds{2, 1, 1},
       bounds{2, 1}},
      {"bus_ring_consumed", "who sees its item consumed sees what came of it", consumed_is_done,
       bounds{3, 2, 1}},
      {"bus_ring_close", "a closed ring gives out no ticket, and what was claimed before arrives",
       closing_loses_nothing, bounds{2, 1, 1}, bounds{2, 1}},
  };
}

}  // namespace model
