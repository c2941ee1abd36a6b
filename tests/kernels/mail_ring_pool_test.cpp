// The stack of free mail rings: each ring has at most one holder, and its contents are visible to the next holder.
#include "kernels/mail/mail_ring_pool.hpp"

#include <set>

#include "tests/kernels/arena_fixture.hpp"

using namespace rondo_test;

TEST_CASE("a formatted arena gives out each shared ring once", "[mail_ring_pool]") {
  test_arena a{{.actors = 2, .rings = 5, .ring_slots = 2, .heap_bytes = 0}};
  std::set<std::uint32_t> ids;
  for (int i = 0; i < 5; ++i) ids.insert(pop_free_ring(a.ref()));
  CHECK(ids == std::set<std::uint32_t>{1, 2, 3, 4, 5});
  CHECK(pop_free_ring(a.ref()) == 0);
  push_free_ring(a.ref(), 3);
  CHECK(pop_free_ring(a.ref()) == 3);
}

TEST_CASE("an arena without shared rings has none to hand out", "[mail_ring_pool]") {
  test_arena a{{.actors = 2, .rings = 0, .ring_slots = 2, .heap_bytes = 0}};
  CHECK(pop_free_ring(a.ref()) == 0);
}

TEST_CASE("the ring stack is last in, first out, also across the overflow of its tag", "[mail_ring_pool]") {
  CAPTURE(test_seed());
  random_source random;
  for (std::uint64_t const tag : {std::uint64_t{0}, std::uint64_t{0xffff'ffe0}}) {
    test_arena a{{.actors = 2, .rings = 8, .ring_slots = 2, .heap_bytes = 0}};
    a.ref().header().free_rings.store(tag << 32 | 1, memory_order::relaxed);
    std::vector<std::uint32_t> stack{8, 7, 6, 5, 4, 3, 2, 1}, held;
    for (int i = 0; i < 500; ++i) {
      if (random.one_in(2)) {
        auto const id = pop_free_ring(a.ref());
        REQUIRE(id == (stack.empty() ? 0 : stack.back()));
        if (id == 0) continue;
        stack.pop_back();
        held.push_back(id);
      } else if (!held.empty()) {
        auto const at = held.begin() + random.below(static_cast<std::uint32_t>(held.size()));
        push_free_ring(a.ref(), *at);
        stack.push_back(*at);
        held.erase(at);
      }
      REQUIRE(a.ref().header().free_ring_count.load(memory_order::relaxed) == stack.size());
    }
  }
}

TEST_CASE("the stack's head never recurs, so a slow thread's exchange on it fails", "[mail_ring_pool]") {
  test_arena a{{.actors = 2, .rings = 2, .ring_slots = 2, .heap_bytes = 0}};
  std::set<std::uint64_t> heads;
  for (int i = 0; i < 10; ++i) {
    CHECK(heads.insert(a.ref().header().free_rings.load(memory_order::relaxed)).second);
    auto const first = pop_free_ring(a.ref()), second = pop_free_ring(a.ref());
    push_free_ring(a.ref(), second);
    push_free_ring(a.ref(), first);
  }
}

TEST_CASE("many threads hold each ring alone and see the writes of its previous holder",
          "[mail_ring_pool][stress]") {
  CAPTURE(test_seed());
  test_arena a{{.actors = 2, .rings = 3, .ring_slots = 2, .heap_bytes = 0}};
  a.ref().header().free_rings.store(std::uint64_t{0xffff'f000} << 32 | 1, memory_order::relaxed);
  std::uint32_t const threads = 4, rounds = 4'000;
  std::vector<std::atomic<int>> holders(4);
  std::vector<std::uint32_t> uses(4, 0);  // not atomic: ordered by the pool alone
  std::atomic<std::uint32_t> shared_rings{0}, disagreements{0}, below_zero{0};
  std::vector<std::thread> crew;
  for (std::uint32_t n = 0; n < threads; ++n)
    crew.emplace_back([&, n] {
      random_source random{n + 1};
      for (std::uint32_t i = 0; i < rounds;) {
        auto const id = pop_free_ring(a.ref());
        if (id == 0) {
          std::this_thread::yield();
          continue;
        }
        below_zero += a.ref().header().free_ring_count.load(memory_order::relaxed) > 3 + threads;
        shared_rings += holders[id].fetch_add(1) != 0;
        disagreements += a.ref().ring(id).tail != uses[id];
        a.ref().ring(id).tail = ++uses[id];
        if (random.one_in(8)) std::this_thread::yield();
        holders[id].fetch_sub(1);
        push_free_ring(a.ref(), id);
        ++i;
      }
    });
  for (auto& t : crew) t.join();
  CHECK(shared_rings == 0);
  CHECK(disagreements == 0);
  CHECK(below_zero == 0);
  CHECK(uses[1] + uses[2] + uses[3] == threads * rounds);
  CHECK(a.ref().header().free_ring_count.load(memory_order::relaxed) == 3);
}

TEST_CASE("actors without mail do not keep rings that others need", "[mail_ring_pool][G5]") {
  for (std::uint32_t const rings : {1u, 2u, 3u, 4u, 8u}) {
    CAPTURE(rings);
    test_arena a{{.actors = 20, .rings = rings, .ring_slots = 4, .heap_bytes = 1 << 14}};
    scheduler sched{a.ref()};
    for (std::uint32_t i = 0; i < 20; ++i) {
      auto const id = a.launch_taker(i, 4);
      note const n{0, i};
      REQUIRE(sched.post(id, note_header(), &n, sizeof n) == errc::ok);
      std::uint32_t index = 0;
      REQUIRE(sched.next(index));
      owned_mail mail{sched, id};
      note got{};
      REQUIRE(mail.try_take(got));
      CHECK(got.number == i);
      actor_totals totals{};
      CHECK_FALSE(sched.release(index, totals).still_owned);
    }
  }
}
