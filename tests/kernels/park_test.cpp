// Blocking on a word: each implementation that this system can run, whichever of them the build uses.
#include <array>
#include <thread>
#include <vector>

#include "kernels/base/clock.hpp"
#include "kernels/base/park_lot.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/forked.hpp"
#include "tests/long_runs.hpp"
#if defined(__linux__)
#include "kernels/base/park_futex.hpp"
using futex = rondo::detail::futex_park;
#else
using futex = rondo::detail::parking_lot;
#endif

using namespace rondo;
using rondo::detail::parking_lot;

namespace {

constexpr std::uint64_t long_ns = 60'000'000'000;  // it only bounds a hang

/// Waits for another value than `seen`. False if that took as long as a lost wake-up would.
template <class Park>
bool await_change(atomic<std::uint32_t>& word, std::uint32_t seen) {
  auto const began = rondo::detail::monotonic_ns();
  while (word.load(memory_order::acquire) == seen) Park::wait(word, seen, long_ns);
  return rondo::detail::monotonic_ns() - began < long_ns;
}

template <class Park>
void set(atomic<std::uint32_t>& word, std::uint32_t value, int count) {
  word.store(value, memory_order::release);
  Park::wake(word, count);
}

}  // namespace

TEMPLATE_TEST_CASE("a wait ends at once if the word has another value", "[park]", futex, parking_lot) {
  atomic<std::uint32_t> word(7);
  CHECK(await_change<TestType>(word, 6));
  TestType::wait(word, 6, ~0ull / 2);
}

TEMPLATE_TEST_CASE("a wait ends after its limit, however short", "[park]", futex, parking_lot) {
  atomic<std::uint32_t> word(7);
  for (std::uint64_t const limit : {0ull, 1ull, 2'000'000ull}) TestType::wait(word, 7, limit);
  CHECK(word.load(memory_order::relaxed) == 7);
}

TEMPLATE_TEST_CASE("a wake-up where nobody waits does nothing", "[park]", futex, parking_lot) {
  atomic<std::uint32_t> word(7);
  TestType::wake(word, 1);
  TestType::wake(word, 1 << 30);
  CHECK(word.load(memory_order::relaxed) == 7);
}

TEMPLATE_TEST_CASE("threads hand each other a turn, and no wake-up is lost", "[park][stress]", futex,
                   parking_lot) {
  constexpr std::uint32_t threads = 4;
  auto const rounds = static_cast<std::uint32_t>(rondo_test::times(2'000, 100'000));
  std::array<atomic<std::uint32_t>, threads> turns{};  // neighbours, some of which share a lot
  for (auto& t : turns) t.store(0, memory_order::relaxed);
  atomic<std::uint32_t> lost(0);
  std::vector<std::thread> all;
  for (std::uint32_t i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      for (std::uint32_t round = 0; round < rounds; ++round) {
        if (!await_change<TestType>(turns[i], round)) lost.fetch_add(1, memory_order::relaxed);
        if (i + 1 < threads)
          set<TestType>(turns[i + 1], round + 1, 1);
        else if (round + 1 < rounds)
          set<TestType>(turns[0], round + 2, 1);
      }
    });
  set<TestType>(turns[0], 1, 1);
  for (auto& t : all) t.join();
  CHECK(lost.load(memory_order::relaxed) == 0);
}

TEMPLATE_TEST_CASE("one wake-up wakes all threads that it is for, on that word alone", "[park][stress]",
                   futex, parking_lot) {
  constexpr std::uint32_t threads = 6;
  for (int round = 0; round < rondo_test::times(100, 5'000); ++round) {
    atomic<std::uint32_t> word(0), other(0), lost(0);
    std::vector<std::thread> all;
    for (std::uint32_t i = 0; i < threads; ++i)
      all.emplace_back([&, i] {
        if (!await_change<TestType>(i % 2 == 0 ? word : other, 0)) lost.fetch_add(1, memory_order::relaxed);
      });
    set<TestType>(word, 1, threads);
    set<TestType>(other, 1, threads);
    for (auto& t : all) t.join();
    REQUIRE(lost.load(memory_order::relaxed) == 0);
  }
}

TEMPLATE_TEST_CASE("a forked child waits and wakes beside its parent's waiting threads", "[park]", futex,
                   parking_lot) {
  atomic<std::uint32_t> word(0), begun(0);
  std::thread waits([&] {
    begun.store(1, memory_order::release);
    await_change<TestType>(word, 0);
  });
  REQUIRE(rondo_test::eventually([&] { return begun.load(memory_order::acquire) == 1; }));
  int const status = rondo_test::exit_status_of_child([&] {
    TestType::wait(word, 0, 1'000'000);
    set<TestType>(word, 1, 1 << 30);
    return await_change<TestType>(word, 0) ? 7 : 1;
  });
  CHECK(status == 7);
  CHECK(word.load(memory_order::relaxed) == 0);  // of the parent
  set<TestType>(word, 1, 1);
  waits.join();
}
