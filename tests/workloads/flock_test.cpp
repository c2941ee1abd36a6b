#include <algorithm>
#include <array>
#include <boost/asio/use_future.hpp>
#include <cmath>
#include <map>
#include <random>

#include "actors/workloads/run_flock.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "tests/catch.hpp"
#include "tools/workloads_module/workloads_module.hpp"
#ifdef RONDO_PTX_WORKLOADS
#include "tests/workloads/ptx_runtime.hpp"
#endif

using namespace rondo;
using namespace rondo::workloads;
using namespace std::chrono_literals;

namespace {

using module_used = tools::workloads_module;
using agents = std::vector<agent>;

/// How many agents the fullest row of three cells has.
std::size_t fullest_row(agents const& all, boids::space const& world) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> rows;
  std::size_t most = 0;
  for (auto const& a : all)
    for (auto const column : {world.side - 1, 0u, 1u})
      most = std::max(most, ++rows[{world.line_of(a.y), (world.line_of(a.x) + column) % world.side}]);
  return most;
}

/// value / by, to the nearest; up if two are as near.
std::int64_t rounded(std::int64_t value, std::int64_t by) {
  auto const above = value + by / 2;
  return above >= 0 ? above / by : -((-above + by - 1) / by);
}

/// A step by the definition: everyone looks at everyone, in 64 bits.
agents by_definition(agents const& before, std::int64_t radius) {
  constexpr std::int64_t unit = 16'384;
  auto after = before;
  for (auto& me : after) {
    std::int64_t count = 0, sums[2] = {}, velocities[2] = {}, pushes[2] = {};
    auto const was = me;
    for (auto const& other : before) {
      auto const along = [&](std::uint32_t from, std::uint32_t to) {
        std::int64_t apart = std::int64_t{to} - from;
        if (apart >= std::int64_t{1} << 31) apart -= std::int64_t{1} << 32;
        if (apart < -(std::int64_t{1} << 31)) apart += std::int64_t{1} << 32;
        return rounded(apart * ((std::int64_t{1} << 46) / radius), std::int64_t{1} << 32);
      };
      std::int64_t const d[] = {along(was.x, other.x), along(was.y, other.y)};
      auto const square = d[0] * d[0] + d[1] * d[1];
      if (square == 0 || square >= unit * unit) continue;
      ++count;
      velocities[0] += other.vx, velocities[1] += other.vy;
      for (int i = 0; i < 2; ++i) {
        sums[i] += d[i];
        if (square < unit * unit / 4) pushes[i] += d[i] * ((unit * unit / 4 - square) / (1 << 18));
      }
    }
    std::int64_t v[] = {was.vx, was.vy};
    for (int i = 0; count != 0 && i < 2; ++i) {
      auto const mean = [&](std::int64_t sum) { return rounded(sum * (65'536 / count), 65'536); };
      v[i] += rounded(4 * (mean(velocities[i]) - v[i]) + mean(sums[i]) - pushes[i] / 64, 32);
      v[i] = std::clamp<std::int64_t>(v[i], 1 - 2 * unit, 2 * unit - 1);
    }
    auto const factor = std::max<std::int64_t>((3 * unit - (v[0] * v[0] + v[1] * v[1]) / unit) / 2, unit / 2);
    for (auto& part : v) part = rounded(part * factor, unit);
    me.vx = static_cast<std::int16_t>(v[0]), me.vy = static_cast<std::int16_t>(v[1]);
    me.x = static_cast<std::uint32_t>(was.x + rounded(v[0] * (radius / 8), unit));
    me.y = static_cast<std::uint32_t>(was.y + rounded(v[1] * (radius / 8), unit));
  }
  return after;
}

/// Agents that are all within one cell, or all at one place.
agents crowd(std::uint32_t count, std::uint32_t spread) {
  auto all = scattered(count, 5);
  for (auto& a : all) a.x = 0x1234'5678 + a.x % spread, a.y = 0x8765'4321 + a.y % spread;
  return all;
}

void flies_plainly(runtime& rt, agents const& start, flock_options const& how) {
  auto const seen = fly_flock(rt, start, how).agents;
  auto const plain = fly_plainly(start, how).agents;
  REQUIRE(seen.size() == start.size());
  for (std::uint32_t n = 0; n < seen.size(); ++n) REQUIRE(seen[n].number == n);  // none is lost
  REQUIRE(checksum(seen) == checksum(plain));
  REQUIRE(seen == plain);
}

}  // namespace

TEST_CASE("a flock flies as plain loops have it, by any number of teams and lanes", "[workloads]") {
  struct {
    char const* device;
    std::uint32_t teams, lanes;
  } const all[] = {{"cpu", 1, 1}, {"cpu", 2, 1}, {"emulated", 2, 4}};
  for (auto const& on : all) {
    runtime rt{use<module_used>, {.device = on.device, .teams = on.teams, .lanes = on.lanes}};
    for (std::uint32_t const count : {1u, 2u, 50u, 4000u})
      for (std::uint64_t const seed : {1ull, 2ull, 77ull}) {
        INFO(count << " agents, seed " << seed << ", on " << on.device << ", " << on.teams << " teams");
        flies_plainly(rt, scattered(count, seed), {.steps = 6});
      }
    INFO("on " << on.device << ", " << on.teams << " teams");
    flies_plainly(rt, scattered(2500, 3), {.sight = most_sight, .steps = 3});  // more than an agent looks at
    flies_plainly(rt, scattered(2500, 4), {.sight = 0.004, .steps = 3});       // most cells are empty
    CHECK(rt.snapshot().dead_letters == 0);
  }
}

TEST_CASE("neighbours are those that everyone finds who looks at everyone", "[workloads]") {
  runtime rt{use<module_used>, {.device = "cpu", .teams = 2}};
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    flock_options const how{.sight = std::array{1 / 18.0, 1 / 18.99, 0.04}[seed % 3], .steps = 10};
    auto const start = scattered(400, seed);
    auto const world = world_of(400, how);
    auto expected = start;
    for (std::uint32_t step = 0; step < how.steps; ++step) {
      REQUIRE(fullest_row(expected, world) <= workloads::flock::most_of_row);
      expected = by_definition(expected, world.radius);
    }
    INFO("seed " << seed);
    CHECK(fly_flock(rt, start, how).agents == expected);
  }
}

TEST_CASE("a crowd flies apart, and stays the same on every device", "[workloads]") {
  auto const* const device = GENERATE("cpu", "emulated");
  runtime rt{use<module_used>, {.device = device, .teams = 2, .lanes = device[0] == 'c' ? 1u : 4u}};
  flies_plainly(rt, crowd(3000, 1 << 18), {.sight = 0.05, .steps = 8});
  flies_plainly(rt, crowd(300, 1), {.sight = 0.05, .steps = 8});  // all at one place
}

TEST_CASE("an agent alone flies straight on, at its speed, around the world", "[workloads]") {
  runtime rt{use<module_used>, {.device = "cpu", .teams = 1}};
  agents const start{{0xffff'0000, 5, 8000, -6000, 0}};
  flock_options how{.sight = 0.25, .steps = 10};
  auto const a = fly_flock(rt, start, how).agents.at(0);
  CHECK(std::abs(std::hypot(a.vx, a.vy) - 16'384) < 4);
  CHECK(std::abs(std::atan2(a.vy, a.vx) - std::atan2(-6000, 8000)) < 1e-3);
  CHECK(a.x < 0x8000'0000);
  CHECK(a.y > 0x8000'0000);
  how.steps = 11;
  auto const next = fly_flock(rt, start, how).agents.at(0);
  auto const x = static_cast<std::int32_t>(next.x - a.x), y = static_cast<std::int32_t>(next.y - a.y);
  CHECK(std::hypot(x, y) == Approx(0x4000'0000 / 8).epsilon(1e-3));
  how.steps = 0;
  CHECK(fly_flock(rt, start, how).agents == start);
}

TEST_CASE("a flock comes to fly in one direction where it may, and none is preferred", "[workloads]") {
  runtime rt{use<module_used>, {.device = "cpu", .teams = 2}};
  auto const mean = [](agents const& all) {
    double x = 0, y = 0;
    for (auto const& a : all) x += a.vx, y += a.vy;
    return std::pair{x / static_cast<double>(all.size()) / 16'384,
                     y / static_cast<double>(all.size()) / 16'384};
  };
  auto const few = mean(fly_flock(rt, scattered(200, 9), {.sight = 0.25, .steps = 300}).agents);
  CHECK(std::hypot(few.first, few.second) > 0.9);
  // Of many that see little, each region chooses its own.
  auto const many = mean(fly_flock(rt, scattered(20'000, 9), {.steps = 100}).agents);
  CHECK(std::hypot(many.first, many.second) < 0.2);
}

TEST_CASE("a flight is the same wherever agents lie at first, and if each step is seen", "[workloads]") {
  runtime rt{use<module_used>, {.device = "cpu", .teams = 2}};
  auto const start = scattered(3000, 8);
  auto const straight = fly_flock(rt, start, {.steps = 12}).agents;
  auto mixed = start;
  std::ranges::shuffle(mixed, std::mt19937{1});
  std::uint32_t shown = 0, reported = 0;
  std::uint64_t last = 0;
  flock_watch watch;
  watch.show = [&](std::span<agent const> all) { ++shown, last = checksum(all); };
  watch.report = [&](std::uint32_t steps) { reported = steps; };
  CHECK(fly_flock(rt, mixed, {.steps = 12}, watch).agents == straight);
  CHECK(shown == 12);
  CHECK(reported == 12);
  CHECK(last == checksum(straight));
  CHECK(last != checksum(start));
}

TEST_CASE("a flock refuses buffers and radii that do not fit, and gives the buffers back", "[workloads]") {
  runtime rt{use<module_used>, {.device = "cpu", .teams = 1}};
  auto const start = scattered(100, 1);
  auto const world = world_of(100, {});
  unified_buffer<agent> all(rt.memory(), {100});
  std::ranges::copy(start, all.overwrite().value().begin());
  unified_buffer<std::byte> places(rt.memory(), {flock_places::bytes(100, world.cells())});
  auto const actor = rt.launch<workloads::flock>("flock");
  auto const whole = all.device_for_writing().value(), memory = places.device_for_overwriting().value();
  auto const status_of = [&](buffer_ref a, buffer_ref b, std::uint32_t radius) {
    return actor.ask(fly{a, b, radius, 2}, 1min, block).value().status;
  };
  CHECK(status_of(whole.slice(0, 0), memory, world.radius) == errc::buffer_out_of_bounds);
  CHECK(status_of(whole, memory.slice(0, memory.bytes - 4), world.radius) == errc::buffer_out_of_bounds);
  CHECK(status_of(whole, memory, 0) == errc::buffer_out_of_bounds);
  CHECK(status_of(whole, memory, ~0u) == errc::buffer_out_of_bounds);
  CHECK(status_of(whole, memory, boids::space::least_radius) == errc::buffer_out_of_bounds);  // more cells
  CHECK(status_of(whole, {}, world.radius) == errc::buffer_out_of_bounds);
  CHECK(status_of({}, memory, world.radius) == errc::buffer_out_of_bounds);
  CHECK(status_of(whole, memory, world.radius) == errc::ok);
  CHECK(all.overwrite().has_value());  // no lease is left
  CHECK(places.overwrite().has_value());

  CHECK_THROWS_AS(world_of(0, {}), std::invalid_argument);
  CHECK_THROWS_AS(world_of(most_agents + 1, {}), std::invalid_argument);
  CHECK_THROWS_AS(world_of(10, {.sight = 0.3}), std::invalid_argument);
  CHECK_THROWS_AS(world_of(10, {.sight = least_sight / 2}), std::invalid_argument);
  CHECK_THROWS_AS(fly_flock(rt, {}, {}), std::invalid_argument);
  CHECK(world_of(10, {.sight = least_sight}).side == 8192);
  CHECK(world_of(10, {.sight = most_sight}).side == 4);
}

TEST_CASE("a flock that flies refuses another one, and says how far it is", "[workloads]") {
  runtime rt{use<module_used>, {.device = "cpu", .teams = 2}};
  auto const world = world_of(5000, {});
  unified_buffer<agent> all(rt.memory(), {5000});
  std::ranges::copy(scattered(5000, 1), all.overwrite().value().begin());
  unified_buffer<std::byte> places(rt.memory(), {flock_places::bytes(5000, world.cells())});
  auto const actor = rt.launch<workloads::flock>("flock", {.capacity = 4});
  fly const request{all.device_for_writing().value(), places.device_for_overwriting().value(), world.radius,
                    300};
  auto end = actor.ask(request, 5min, boost::asio::use_future);
  std::uint32_t last = 0;
  for (int n = 0; n < 5; ++n) {
    auto const seen =
        actor.ask(steps_flown{}, {.timeout = 1min, .priority = 255, .wait_for_room = true}, block).value();
    CHECK(seen.steps >= last);
    last = seen.steps;
  }
  CHECK(actor.ask(request, {.timeout = 1min, .priority = 255, .wait_for_room = true}, block).error() ==
        errc::wrong_state);
  CHECK(end.get().steps == 300);
}

#ifdef RONDO_PTX_WORKLOADS
TEST_CASE("a flock flies as plain loops have it where nvcc's code is executed", "[workloads][ptx]") {
  auto const rt = workloads_test::start_ptx();
  flies_plainly(*rt, scattered(60, 1), {.steps = 2});
  flies_plainly(*rt, crowd(50, 1 << 18), {.sight = 0.1, .steps = 2});
}
#endif
