// Two threads that pass buffers to each other, and lease, release and trim concurrently; also run under
// ThreadSanitizer.
#include <array>
#include <atomic>
#include <thread>

#include "runtime/memory/buffer_pool.hpp"
#include "tests/catch.hpp"
#include "tests/seed.hpp"

namespace {

using rondo::errc;

/// Places where one thread leaves a handle for the other; slot and generation in one word, 0 if empty.
struct exchange_board {
  std::array<std::atomic<std::uint64_t>, 8> places{};
};

constexpr std::uint64_t words = 32;

std::uint64_t pack(rondo::buffer_ref ref) { return std::uint64_t{ref.generation} << 32 | ref.slot; }
rondo::buffer_ref unpack(std::uint64_t packed) {
  return {static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32), 0, words * 8};
}

struct outcome {
  std::uint64_t acquired = 0, refused = 0, released = 0, reads = 0, writes = 0, stale = 0, faults = 0;
};

/// All words of a buffer are equal and contain the generation in which it was filled; writers add 2^56 to each.
bool whole(rondo::read_lease<std::uint64_t> const& lease, std::uint64_t packed) {
  constexpr std::uint64_t mask = (1ull << 56) - 1;
  auto const first = lease.view()[0];
  for (auto word : lease.view())
    if (word != first) return false;
  return (first & mask) == (packed & mask);
}

outcome work(rondo::buffer_pool& pool, exchange_board& board, std::uint64_t seed, int rounds) {
  std::mt19937_64 random(seed);
  outcome seen;
  for (int i = 0; i < rounds; ++i) {
    auto& place = board.places[random() % board.places.size()];
    auto const packed =
        place.load(std::memory_order_acquire);  // pairs with the exchange that publishes the handle
    switch (random() % 4) {
      case 0: {
        auto const ref = pool.acquire(words * 8);
        if (!ref) {
          ++seen.refused;
          break;
        }
        ++seen.acquired;
        {
          auto const lease = pool.write<std::uint64_t>(*ref);
          if (!lease) ++seen.faults;
          for (auto& word : lease.view()) word = pack(*ref) & ((1ull << 56) - 1);
        }
        if (auto const old = place.exchange(pack(*ref), std::memory_order_acq_rel)) {
          if (pool.release(unpack(old)) != errc::ok) ++seen.faults;
          ++seen.released;
        }
        break;
      }
      case 1: {
        if (packed == 0) break;
        auto const lease = pool.read<std::uint64_t>(unpack(packed));
        if (lease) {
          ++seen.reads;
          if (!whole(lease, packed)) ++seen.faults;
        } else if (lease.status() == errc::stale_buffer) {
          ++seen.stale;
        } else if (lease.status() != errc::buffer_in_use) {
          ++seen.faults;
        }
        break;
      }
      case 2: {
        if (packed == 0) break;
        auto const lease = pool.write<std::uint64_t>(unpack(packed));
        if (!lease) break;
        ++seen.writes;
        for (auto& word : lease.view()) word += 1ull << 56;
        break;
      }
      default:
        if (auto const old = place.exchange(0, std::memory_order_acq_rel)) {
          if (pool.release(unpack(old)) != errc::ok) ++seen.faults;
          if (pool.release(unpack(old)) == errc::ok) ++seen.faults;
          ++seen.released;
        }
        if (random() % 64 == 0) pool.trim(random() % 2048);
    }
  }
  return seen;
}

}  // namespace

TEST_CASE("two threads share buffers, and no lease sees data of another generation", "[buffer]") {
  auto const seed = rondo_test::seed_of("buffer_stress");
  CAPTURE(seed);
  rondo::buffer_pool pool(
      {.cap_bytes = 6 * words * 8, .slots = 7});  // fewer than places, so that acquires fail sometimes
  exchange_board board;
  outcome first, second;
  {
    std::jthread const other([&] { second = work(pool, board, seed + 1, 100'000); });
    first = work(pool, board, seed, 100'000);
  }
  std::uint64_t left = 0;
  for (auto& place : board.places)
    if (auto const packed = place.load(std::memory_order_relaxed)) {  // relaxed: the threads have been joined
      CHECK(pool.release(unpack(packed)) == errc::ok);
      ++left;
    }
  CHECK(first.faults + second.faults == 0);
  CHECK(first.reads > 0);
  CHECK(second.writes > 0);
  CHECK(first.acquired + second.acquired == first.released + second.released + left);
  auto const s = pool.statistics();
  CHECK(s.buffers_in_use == 0);
  CHECK(s.hits + s.misses == first.acquired + second.acquired);
  CHECK(s.refusals == first.refused + second.refused);
  CHECK(s.peak_bytes <= 6 * words * 8);
}

TEST_CASE("a slot popped by one thread is not popped by another until it is pushed", "[buffer]") {
  auto const seed = rondo_test::seed_of("buffer_slot_stack");
  CAPTURE(seed);
  constexpr std::uint32_t slots = 3;
  std::array<rondo::buffer_entry, slots> entries{};
  rondo::buffer_table_ref const table{entries.data(), slots, nullptr};
  rondo::slot_stack stack;
  std::array<std::atomic<bool>, slots> held{};
  std::atomic<int> faults{0};
  for (std::uint32_t slot = 0; slot < slots; ++slot) stack.push(table, slot);
  auto const work_stack = [&](std::uint64_t own_seed) {
    std::mt19937 random(static_cast<std::uint32_t>(own_seed));
    for (int i = 0; i < 300'000; ++i) {
      std::array<std::uint32_t, 2> const got{stack.pop(table), stack.pop(table)};
      for (auto slot : got)
        if (slot != rondo::slot_stack::none && held[slot].exchange(true, std::memory_order_relaxed)) ++faults;
      auto const first = random() % 2;  // so that a top recurs with another slot below it
      for (auto slot : {got[first], got[1 - first]}) {
        if (slot == rondo::slot_stack::none) continue;
        held[slot].store(false, std::memory_order_relaxed);  // relaxed: the stack orders it
        stack.push(table, slot);
      }
      if (faults.load(std::memory_order_relaxed) != 0) return;
    }
  };
  {
    std::jthread const other([&] { work_stack(seed + 1); });
    work_stack(seed);
  }
  CHECK(faults == 0);
  std::uint32_t left = 0;
  for (; left <= slots && stack.pop(table) != rondo::slot_stack::none; ++left) {
  }
  CHECK(left == slots);
}

TEST_CASE("a thread that only acquires gets the blocks that another only releases", "[buffer]") {
  rondo::buffer_pool pool({.slots = 8});
  std::atomic<std::uint64_t> hand{0};
  std::atomic<int> faults{0};
  constexpr int rounds = 20'000;
  {
    std::jthread const releaser([&] {
      for (int i = 0; i < rounds; ++i) {
        std::uint64_t packed = 0;
        while ((packed = hand.exchange(0, std::memory_order_acquire)) == 0) std::this_thread::yield();
        if (pool.release(unpack(packed)) != errc::ok) ++faults;
      }
    });
    for (int i = 0; i < rounds; ++i) {
      auto const ref = pool.acquire(words * 8);
      if (!ref) {
        ++faults;
        --i;
        continue;
      }
      while (hand.load(std::memory_order_relaxed) != 0)
        std::this_thread::yield();  // relaxed: only this thread fills it
      hand.store(pack(*ref), std::memory_order_release);
    }
  }
  CHECK(faults == 0);
  CHECK(pool.statistics().buffers_in_use == 0);
  CHECK(pool.statistics().misses <= 8);
}
