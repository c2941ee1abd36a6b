// The tiles of a wide job: each is claimed once, there is one last finisher, and an old epoch cannot be claimed.
#include "kernels/mail/wide_job.hpp"

#include "tests/kernels/arena_fixture.hpp"

using namespace rondo_test;

static_assert(sizeof(wide_job) == 64);

namespace {

void set_epoch(wide_job& job, std::uint64_t epoch) { job.word.store(epoch << 40, memory_order::relaxed); }

/// One thread opens job after job; all threads claim tiles. Non-atomic memory carries the data that a tile and the last
/// finisher must see.
void stress_wide_job(std::uint64_t epoch) {
  wide_job job{};
  set_epoch(job, epoch);
  std::uint32_t const rounds = 2'000, most = 6, helpers = 2;
  std::vector<std::uint32_t> tile_round(most, 0);  // not atomic: ordered by the job alone
  std::atomic<std::uint32_t> ended{0}, wrong{0};
  auto const work = [&] {
    std::uint32_t tile = 0;
    if (!job.try_claim(tile)) return false;
    auto const round = job.ticket;  // J2: unchanged while our tile is unfinished
    wrong += job.actor != round + 1 || tile >= 1 + round % most || tile_round[tile] == round;
    tile_round[tile] = round;
    if (!job.finish_one()) return true;
    for (std::uint32_t t = 0; t < 1 + round % most; ++t) wrong += tile_round[t] != round;
    job.release();
    ended = round;
    return true;
  };
  std::vector<std::thread> threads;
  for (std::uint32_t h = 0; h < helpers; ++h)
    threads.emplace_back([&] {
      while (ended < rounds)
        if (!work()) std::this_thread::yield();
    });
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    while (!job.try_own()) std::this_thread::yield();
    job.actor = round + 1;
    job.ticket = round;
    job.open(1 + round % most);
    while (ended != round)
      if (!work()) std::this_thread::yield();
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("a zeroed job has no tiles and is free to own once", "[wide_job]") {
  wide_job job{};
  std::uint32_t tile = 0;
  CHECK_FALSE(job.try_claim(tile));
  CHECK(job.try_own());
  CHECK_FALSE(job.try_own());
  CHECK_FALSE(job.try_claim(tile));
  job.release();
  CHECK(job.try_own());
}

TEST_CASE("a job hands out each tile once and identifies its last finisher", "[wide_job]") {
  CAPTURE(test_seed());
  random_source random;
  for (std::uint64_t const epoch : {std::uint64_t{0}, (std::uint64_t{1} << 24) - 10}) {
    wide_job job{};
    set_epoch(job, epoch);
    for (int round = 0; round < 50; ++round) {
      std::uint32_t const tiles = 1 + random.below(20);
      REQUIRE(job.try_own());
      job.open(tiles);
      CHECK(job.failure.load(memory_order::relaxed) == 0);
      std::uint32_t claimed = 0, finished = 0;
      while (finished < tiles) {
        std::uint32_t tile = ~0u;
        if (random.one_in(2)) {
          REQUIRE(job.try_claim(tile) == (claimed < tiles));
          if (claimed < tiles) REQUIRE(tile == claimed++);
        } else if (finished < claimed) {
          REQUIRE(job.finish_one() == (++finished == tiles));
        }
      }
      job.failure.store(7, memory_order::relaxed);
      job.release();
    }
  }
}

// Regression: a team that had opened one message's tiles continued with those of the next message.
TEST_CASE("a claim for the tiles of one message gets none of the next", "[wide_job][G4]") {
  for (std::uint64_t const start : {std::uint64_t{0}, (std::uint64_t{1} << 24) - 2}) {
    wide_job job{};
    set_epoch(job, start);
    std::uint32_t tile = 0;
    REQUIRE(job.try_own());
    auto const first = job.open(1);
    REQUIRE(job.try_claim_of(first, tile));
    REQUIRE(job.finish_one());
    job.release();
    REQUIRE(job.try_own());
    auto const second = job.open(2);
    CHECK_FALSE(job.try_claim_of(first, tile));
    CHECK(job.try_claim_of(second, tile));
    CHECK(tile == 0);
    CHECK(job.try_claim(tile));
    CHECK(tile == 1);
    CHECK_FALSE(job.try_claim_of(second, tile));
  }
}

TEST_CASE("the largest number of tiles does not change the epoch", "[wide_job]") {
  wide_job job{};
  REQUIRE(job.try_own());
  job.open(max_tiles);
  auto const opened = job.word.load(memory_order::relaxed);
  for (std::uint32_t i = 0; i < max_tiles; ++i) {
    std::uint32_t tile = ~0u;
    if (!job.try_claim(tile) || tile != i) FAIL("tile " << i);
  }
  std::uint32_t tile = 0;
  CHECK_FALSE(job.try_claim(tile));
  CHECK(job.word.load(memory_order::relaxed) >> 40 == opened >> 40);
}

TEST_CASE("many threads run job after job, each tile once", "[wide_job][stress]") { stress_wide_job(0); }

TEST_CASE("many threads run jobs across the overflow of the epoch", "[wide_job][stress]") {
  stress_wide_job((std::uint64_t{1} << 24) - 1'000);
}
