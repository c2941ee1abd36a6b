// The ready queue compared with a std::deque, under many threads, and across the overflow of its positions.
#include "kernels/mail/ready_queue.hpp"

#include <deque>

#include "tests/kernels/arena_fixture.hpp"

using namespace rondo_test;

static_assert(sizeof(ready_positions) == 128 && sizeof(ready_entry) == 8);

namespace {

struct test_queue {
  explicit test_queue(std::uint32_t size, std::uint32_t start = 0) : entries(size) {
    positions.tail.store(start, memory_order::relaxed);
    positions.head.store(start, memory_order::relaxed);
    for (std::uint32_t p = start; p != start + size; ++p)  // free for push p, minus the slot's index
      entries[p & (size - 1)].sequence.store(p - (p & (size - 1)), memory_order::relaxed);
  }
  ready_queue_ref ref() { return {&positions, entries.data(), static_cast<std::uint32_t>(entries.size())}; }

  ready_positions positions{};
  std::vector<ready_entry> entries;
};

/// Many pushers and poppers; each pusher's numbers must come out once each, in order for each popper.
void stress_ready_queue(std::uint32_t size, std::uint32_t start) {
  test_queue q{size, start};
  std::uint32_t const pushers = 3, poppers = 2, each = 4'000;
  std::atomic<std::uint32_t> popped{0}, disorder{0};
  std::vector<std::atomic<std::uint32_t>> seen(pushers * each);
  std::vector<std::thread> threads;
  for (std::uint32_t s = 0; s < pushers; ++s)
    threads.emplace_back([&, s] {
      for (std::uint32_t n = 0; n < each; ++n) q.ref().push(s * each + n);
    });
  for (std::uint32_t c = 0; c < poppers; ++c)
    threads.emplace_back([&] {
      std::vector<std::int64_t> last(pushers, -1);
      while (popped.load() < pushers * each) {
        std::uint32_t item = 0;
        if (!q.ref().try_pop(item)) {
          std::this_thread::yield();
          continue;
        }
        ++popped;
        ++seen.at(item);
        auto& previous = last[item / each];
        if (std::int64_t{item} <= previous) ++disorder;
        previous = item;
      }
    });
  // A team of lanes that take several at once, but none whose number ends with 9 if it is not in front.
  std::uint32_t const lanes = 4;
  team_shared shared{};
  for (std::uint32_t l = 0; l < lanes; ++l)
    threads.emplace_back([&, l] {
      team const t{0, l, lanes, shared};
      auto const takes = [](std::uint32_t item) { return item % 10 != 9; };
      while (t.broadcast(popped.load() < pushers * each)) {
        std::uint32_t item = 0;
        bool const first = t.leader() && q.ref().try_pop(item);
        bool const more = q.ref().try_pop_by_lanes(t, item, takes);
        if (more) disorder += !takes(item);
        if (first || more) ++popped, ++seen.at(item);
      }
    });
  for (auto& t : threads) t.join();
  CHECK(disorder == 0);
  for (auto const& s : seen)
    if (s != 1) FAIL("an entry was popped " << s << " times");
  CHECK(q.ref().positions->looks_empty());
}

}  // namespace

TEST_CASE("a zeroed ready queue is empty", "[ready_queue]") {
  ready_positions positions{};
  std::vector<ready_entry> entries(4);
  ready_queue_ref const q{&positions, entries.data(), 4};
  std::uint32_t actor = 0;
  CHECK(q.positions->looks_empty());
  CHECK_FALSE(q.try_pop(actor));
  for (std::uint32_t lap = 0; lap < 3; ++lap) {
    for (std::uint32_t i = 0; i < 4; ++i) q.push(10 * lap + i);
    CHECK_FALSE(q.positions->looks_empty());
    for (std::uint32_t i = 0; i < 4; ++i) {
      REQUIRE(q.try_pop(actor));
      CHECK(actor == 10 * lap + i);
    }
    CHECK_FALSE(q.try_pop(actor));
  }
}

TEST_CASE("a ready queue holds as many as it has entries while its positions overflow", "[ready_queue]") {
  for (std::uint32_t before = 0; before < 12; ++before) {
    CAPTURE(before);
    test_queue q{4, ~0u - before};
    for (std::uint32_t lap = 0; lap < 4; ++lap) {
      std::uint32_t actor = 99;
      CHECK_FALSE(q.ref().try_pop(actor));
      for (std::uint32_t i = 0; i < 4; ++i) q.ref().push(i);
      CHECK(q.positions.size() == 4);
      for (std::uint32_t i = 0; i < 4; ++i) {
        REQUIRE(q.ref().try_pop(actor));
        CHECK(actor == i);
      }
    }
  }
}

TEST_CASE("the ready queue behaves like a bounded std::deque, also across the overflow", "[ready_queue]") {
  CAPTURE(test_seed());
  random_source random;
  for (std::uint32_t const size : {2u, 8u, 64u})
    for (std::uint32_t const start : {0u, ~0u - 20u, 0x7fff'fff0u}) {
      CAPTURE(size, start);
      test_queue q{size, start};
      std::deque<std::uint32_t> reference;
      for (std::uint32_t n = 0; n < 2'000; ++n) {
        if (random.below(100) < (n % 400 < 200 ? 60u : 40u)) {
          if (reference.size() == size) continue;
          q.ref().push(n);
          reference.push_back(n);
        } else {
          std::uint32_t actor = 0;
          bool const popped = q.ref().try_pop(actor);
          REQUIRE(popped == !reference.empty());
          if (popped) {
            REQUIRE(actor == reference.front());
            reference.pop_front();
          }
        }
        REQUIRE(q.ref().positions->looks_empty() == reference.empty());
      }
    }
}

TEST_CASE("a push into a queue without a free entry waits for one", "[ready_queue]") {
  test_queue q{2, ~0u};
  q.ref().push(1), q.ref().push(2);
  std::atomic<bool> is_in{false};
  std::thread pusher([&] {
    q.ref().push(3);
    is_in = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(is_in);
  for (std::uint32_t n = 1, got = 0; n <= 3; ++n) {
    while (!q.ref().try_pop(got)) std::this_thread::yield();
    CHECK(got == n);
  }
  pusher.join();
}

TEST_CASE("lanes take what is in front, up to the first that they do not take", "[ready_queue]") {
  test_queue q{8, ~0u - 1};
  for (std::uint32_t const n : {10u, 11u, 19u, 12u}) q.ref().push(n);
  std::vector<std::uint32_t> got(5, 0);
  team_shared shared{};
  std::vector<std::thread> lanes;
  for (std::uint32_t l = 0; l < got.size(); ++l)
    lanes.emplace_back([&, l] {
      std::uint32_t item = 0;
      if (q.ref().try_pop_by_lanes(team{0, l, static_cast<std::uint32_t>(got.size()), shared}, item,
                                   [](std::uint32_t n) { return n % 10 != 9; }))
        got[l] = item;
    });
  for (auto& t : lanes) t.join();
  CHECK(got == std::vector<std::uint32_t>{0, 10, 11, 0, 0});
  std::uint32_t next = 0;
  REQUIRE(q.ref().try_pop(next));
  CHECK(next == 19);
  REQUIRE(q.ref().try_pop(next));
  CHECK(next == 12);
}

TEST_CASE("many threads push and pop each entry once and in order", "[ready_queue][stress]") {
  stress_ready_queue(2, 0);
  stress_ready_queue(64, 0);
}

TEST_CASE("many threads push and pop across the overflow of the positions", "[ready_queue][stress]") {
  stress_ready_queue(4, ~0u - 3'000);
  stress_ready_queue(64, ~0u - 3'000);
}
