// The lanes of a team: barrier, exchange of values, division of work.
#include "kernels/base/team.hpp"

#include <numeric>

#include "tests/kernels/arena_fixture.hpp"

using namespace rondo_test;

namespace {

/// Runs f(team) on `lanes` threads.
template <class F>
void on_lanes(std::uint32_t lanes, team_shared& shared, F f) {
  std::vector<std::thread> threads;
  for (std::uint32_t l = 0; l < lanes; ++l) threads.emplace_back([&, l] { f(team{7, l, lanes, shared}); });
  for (auto& t : threads) t.join();
}

}  // namespace

TEST_CASE("a team of one lane exchanges values with itself", "[team]") {
  team const t{3};
  CHECK(t.leader());
  CHECK(t.lanes() == 1);
  CHECK(t.index() == 3);
  t.sync();
  CHECK(t.broadcast(5) == 5);
  CHECK(t.sum(6u) == 6);
  CHECK(t.any(true));
  CHECK_FALSE(t.all(false));
  CHECK(t.scan(7, std::plus<>{}) == 7);
}

TEST_CASE("all lanes see after a sync what a lane wrote before it", "[team][stress]") {
  for (std::uint32_t const lanes : {2u, 5u}) {
    CAPTURE(lanes);
    team_shared shared{};
    shared.phase.store(~0u - 50, memory_order::relaxed);  // the phase overflows during the test
    std::vector<std::uint32_t> values(lanes, 0);
    std::atomic<std::uint32_t> wrong{0};
    on_lanes(lanes, shared, [&](team const& t) {
      for (std::uint32_t round = 1; round <= 200; ++round) {
        values[t.lane()] = round;
        t.sync();
        for (auto const v : values) wrong += v != round;
        t.sync();
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("a scan combines the values up to each lane, in lane order", "[team][stress]") {
  std::uint32_t const lanes = 5;
  team_shared shared{};
  std::atomic<std::uint32_t> wrong{0};
  on_lanes(lanes, shared, [&](team const& t) {
    for (std::uint32_t round = 0; round < 100; ++round) {
      auto const digits =
          t.scan(t.lane() + round, [](std::uint32_t a, std::uint32_t b) { return a * 10 + b; });
      std::uint32_t expected = round;
      for (std::uint32_t l = 1; l <= t.lane(); ++l) expected = expected * 10 + l + round;
      wrong += digits != expected;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("lanes broadcast and reduce", "[team][stress]") {
  std::uint32_t const lanes = 4;
  team_shared shared{};
  std::atomic<std::uint32_t> wrong{0};
  on_lanes(lanes, shared, [&](team const& t) {
    for (std::uint32_t round = 0; round < 100; ++round) {
      wrong += t.broadcast(round * 10 + t.lane()) != round * 10;
      wrong += t.broadcast(round * 10 + t.lane(), 2) != round * 10 + 2;
      wrong += t.sum(std::uint64_t{t.lane()} + round) != 6 + 4 * std::uint64_t{round};
      // op is applied in lane order, so floating-point results are equal in every run
      wrong += t.reduce(t.lane() + 1, [](std::uint32_t a, std::uint32_t b) { return 10 * a + b; }) != 1234;
      wrong += t.any(t.lane() == round % 5) != (round % 5 < lanes);
      wrong += t.all(t.lane() != round % 5) != (round % 5 == 4);
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("the lanes' shares cover each number once, also at the end of the range", "[team]") {
  for (std::uint32_t const lanes : {1u, 3u, 32u})
    for (std::uint32_t const n : {0u, 1u, 2u, 31u, 32u, 33u, 100u}) {
      CAPTURE(lanes, n);
      std::vector<int> covered(n);
      for (std::uint32_t l = 0; l < lanes; ++l)
        for (auto const i : lane_range{n, l, lanes}) ++covered.at(i);
      CHECK(std::count(covered.begin(), covered.end(), 1) == static_cast<std::ptrdiff_t>(n));
    }
  std::uint32_t count = 0;  // the last step would overflow
  for (auto const i : lane_range{~0u, ~0u - 33, 32}) count += i >= ~0u - 33;
  CHECK(count == 2);
}
