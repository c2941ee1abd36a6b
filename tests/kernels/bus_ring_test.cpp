// The bus ring compared with a std::deque, under many threads and across the overflow of its tags.
#include <deque>

#include "tests/kernels/bus_ring_fixture.hpp"

using namespace rondo_test;

namespace {

/// Item i of a group holds its index and the size of the group.
struct part {
  std::uint32_t sender, number, index, count;
};

push_outcome push(bus_ring_ref<part> const& ring, std::uint32_t sender, std::uint32_t number,
                  std::uint32_t count) {
  std::uint64_t ticket = 0;
  return ring.try_push(
      count,
      [=](std::uint32_t i, part& p) {
        p = {sender, number, i, count};
      },
      ticket);
}

constexpr std::uint64_t near_overflow = (std::uint64_t{1} << 32) - 3'000;

void stress_ring(std::uint32_t size, std::uint64_t start) {
  test_ring<part> r{size, start};
  std::uint32_t const senders = 3, each = 3'000;
  std::vector<std::thread> threads;
  for (std::uint32_t s = 0; s < senders; ++s)
    threads.emplace_back([&, s] {
      random_source random{s};
      for (std::uint32_t n = 0; n < each; ++n) {
        auto const count = 1 + random.below(size < 4 ? size : 4);
        while (push(r.ref(), s, n, count) != push_outcome::pushed) std::this_thread::yield();
      }
    });
  bus_reader<part> in{r.ref()};
  std::vector<std::uint32_t> next(senders);
  std::uint32_t groups = 0, wrong = 0;
  while (groups < senders * each) {
    part head;
    if (!in.fetch(head)) {
      std::this_thread::yield();
      continue;
    }
    wrong += head.number != next.at(head.sender)++ || head.index != 0;
    for (std::uint32_t i = 0; i < head.count; ++i) {
      part p;
      wrong += !in.read_group(team{0}, &p, i, 1);
      wrong += p.sender != head.sender || p.number != head.number || p.index != i || p.count != head.count;
    }
    in.advance(head.count);
    if (groups % 3 == 0 || !in.was_published()) in.publish();
    ++groups;
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(in.head() == r.ref().tail());
  CHECK_FALSE(in.was_published());
}

}  // namespace

TEST_CASE("a zeroed bus ring is empty, takes as many items as it has slots, and no more", "[queue_pair]") {
  test_ring<part> r{4};
  r.slots = std::vector<bus_slot<part>>(4);  // zeroed
  bus_reader<part> in{r.ref()};
  part p;
  CHECK_FALSE(in.fetch(p));
  for (std::uint32_t n = 0; n < 4; ++n) CHECK(push(r.ref(), 0, n, 1) == push_outcome::pushed);
  CHECK(push(r.ref(), 0, 4, 1) == push_outcome::full);
  REQUIRE(in.fetch(p));
  in.advance(1);
  CHECK(push(r.ref(), 0, 4, 1) == push_outcome::full);  // read, but not yet released
  in.publish();
  CHECK(push(r.ref(), 0, 4, 2) == push_outcome::full);
  CHECK(push(r.ref(), 0, 4, 1) == push_outcome::pushed);
  CHECK(r.ref().count_consumed() == 1);
}

TEST_CASE("a push into a full bus ring is refused for good once its reader has abandoned it",
          "[queue_pair]") {
  test_ring<part> r{2};
  r.ref().abandon(true);
  for (std::uint32_t n = 0; n < 2; ++n) CHECK(push(r.ref(), 0, n, 1) == push_outcome::pushed);
  CHECK(push(r.ref(), 0, 2, 1) == push_outcome::closed);
  r.ref().abandon(false);
  CHECK(push(r.ref(), 0, 2, 1) == push_outcome::full);
}

TEST_CASE(
    "a push that waits for room ends when its reader has made some, has abandoned the ring, or the writer "
    "gives up",
    "[queue_pair]") {
  test_ring<part> r{2};
  bus_reader<part> in{r.ref()};
  std::uint32_t waited = 0;
  auto const read_one = [&] {
    part p;
    REQUIRE(in.fetch(p));
    in.advance(1);
    in.publish();
    return ++waited, true;
  };
  auto const never = []() -> bool {
    FAIL("there is no reason to wait");
    return false;
  };
  for (std::uint32_t n = 0; n < 2; ++n) CHECK(r.ref().push({0, n, 0, 1}, memory_order::release, never));
  for (std::uint32_t n = 2; n < 5; ++n) CHECK(r.ref().push({0, n, 0, 1}, memory_order::release, read_one));
  CHECK(waited == 3);
  SECTION("abandoned") {
    r.ref().abandon(true);
    CHECK_FALSE(r.ref().push({0, 5, 0, 1}, memory_order::release, never));
  }
  SECTION("given up") {
    CHECK_FALSE(r.ref().push({0, 5, 0, 1}, memory_order::release, [&] { return ++waited < 9; }));
    CHECK(waited == 9);
  }
  for (std::uint32_t n = 3; n < 5; ++n) CHECK(read_one());  // what was written before
  part p;
  CHECK_FALSE(in.fetch(p));
}

TEST_CASE("the bus ring behaves like a bounded std::deque of groups, also across the overflow",
          "[queue_pair]") {
  CAPTURE(test_seed());
  random_source random;
  for (std::uint32_t const size : {1u, 2u, 8u, 64u})
    for (std::uint64_t const start : {std::uint64_t{0}, near_overflow + 2'900, std::uint64_t{0x7fff'fff0}}) {
      CAPTURE(size, start);
      test_ring<part> r{size, start};
      bus_reader<part> in{r.ref()};
      std::deque<part> reference;
      std::uint32_t used = 0, read = 0;
      for (std::uint32_t n = 0; n < 2'000; ++n) {
        if (random.below(100) < (n % 400 < 200 ? 60u : 40u)) {
          auto const count = 1 + random.below(std::min(size, 5u));
          bool const pushed = push(r.ref(), 1, n, count) == push_outcome::pushed;
          REQUIRE(pushed == (used + count <= size));
          if (pushed) {
            reference.push_back({1, n, 0, count});
            used += count;
          }
        } else if (part p, last; in.fetch(p)) {
          REQUIRE(!reference.empty());
          REQUIRE(p.number == reference.front().number);
          REQUIRE(in.read_group(team{0}, &last, p.count - 1, 1));
          REQUIRE(last.index == p.count - 1);
          read += p.count;
          in.advance(p.count);
          reference.pop_front();
          if (random.one_in(2)) {
            in.publish();
            used -= read;
            read = 0;
          }
          if (random.one_in(8)) {  // a new reader continues
            in.publish();
            used -= read;
            read = 0;
            in = bus_reader<part>{r.ref()};
          }
        } else {
          REQUIRE(reference.empty());
          in.publish();
          used -= read;
          read = 0;
        }
      }
    }
}

namespace {

/// An item of one to six words.
struct text {
  std::uint32_t words, word[5];
};

}  // namespace

template <>
struct rondo::bus_extent<text> {
  static constexpr std::uint32_t head_words = 1;
  static constexpr std::uint32_t words(text const& t) noexcept { return t.words; }
};

TEST_CASE("an item crosses the bus without its unused end, and once in 2^31 tickets with it",
          "[queue_pair]") {
  constexpr std::uint64_t lap = std::uint64_t{1} << 31;
  test_ring<text> r{2, lap - 2};
  bus_reader<text> in{r.ref()};
  auto const is_of = [&](std::uint64_t ticket, std::uint32_t chunk) {
    return bus_slot<text>::is_of(r.ref().slot(ticket).chunks[chunk].load(memory_order::relaxed), ticket);
  };
  for (auto ticket = lap - 2; ticket < lap + 4; ++ticket) {
    CAPTURE(ticket);
    auto const n = static_cast<std::uint32_t>(ticket);
    REQUIRE(r.ref().push(text{3, {n, n + 1, 7, 7, 7}}, memory_order::release, [] { return false; }));
    for (std::uint32_t c = 0; c < 3; ++c) CHECK(is_of(ticket, c));
    for (std::uint32_t c = 3; c < 6; ++c) CHECK(is_of(ticket, c) == (ticket >= lap && ticket < lap + 2));
    text got{};
    REQUIRE(in.fetch(got));
    CHECK((got.words == 3 && got.word[0] == n && got.word[1] == n + 1 && got.word[2] == 0));
    in.advance(1);
    in.publish();
  }
}

TEST_CASE("a fetch returns the items that have arrived in a row", "[queue_pair]") {
  constexpr auto window = bus_reader<part>::window, missing = window + 2;
  test_ring<part> r{2 * window};
  bus_reader<part> in{r.ref()};
  part got[window];
  for (std::uint32_t n = 0; n < window + 4; ++n) REQUIRE(push(r.ref(), 0, n, 1) == push_outcome::pushed);
  // An item of which one chunk is still on its way.
  auto& late = r.ref().slot(missing).chunks[2];
  auto const arrived = late.load(memory_order::relaxed);
  late.store(0, memory_order::relaxed);
  CHECK(in.fetch(team{0}, got, 3) == 3);
  CHECK(in.fetch(team{0}, got, window) == window);
  CHECK((got[0].number == 0 && got[window - 1].number == window - 1));
  in.advance(window);
  CHECK(in.fetch(team{0}, got, window) == 2);
  in.advance(2);
  CHECK(in.fetch(team{0}, got, window) == 0);
  CHECK(in.was_published());
  late.store(arrived, memory_order::relaxed);
  CHECK(in.fetch(team{0}, got, window) == 2);
  CHECK((got[0].number == missing && got[1].number == missing + 1));
}

TEST_CASE("many threads push groups that arrive whole, once and in each thread's order",
          "[queue_pair][stress]") {
  stress_ring(2, 0);
  stress_ring(64, 0);
}

TEST_CASE("many threads push across the overflow of the sequences", "[queue_pair][stress]") {
  stress_ring(4, near_overflow);
  stress_ring(64, near_overflow);
}

TEST_CASE("a closed bus ring refuses new items, and items accepted before arrive", "[queue_pair][stress]") {
  test_ring<part> r{64};
  std::atomic<std::uint32_t> pushed{0}, refused{0};
  std::vector<std::thread> threads;
  for (std::uint32_t s = 0; s < 3; ++s)
    threads.emplace_back([&, s] {
      for (std::uint32_t n = 0;; ++n) {
        auto const outcome = push(r.ref(), s, n, 1);
        if (outcome == push_outcome::pushed) ++pushed;
        if (outcome == push_outcome::closed) return void(++refused);
        if (outcome == push_outcome::full) std::this_thread::yield();
      }
    });
  bus_reader<part> in{r.ref()};
  std::uint64_t last = ~0ull;
  while (in.head() < last) {
    if (in.head() > 500 && last == ~0ull) last = r.ref().close();
    if (part p; !in.fetch(p)) continue;
    in.advance(1);
    in.publish();
  }
  for (auto& t : threads) t.join();
  CHECK(refused == 3);
  CHECK(pushed == last);
  CHECK_FALSE(in.was_published());
  CHECK(push(r.ref(), 0, 0, 1) == push_outcome::closed);
  r.ref().reopen();
  CHECK(push(r.ref(), 0, 0, 1) == push_outcome::pushed);
}
