#include "actors/workloads/run_flock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "actors/routing/policies.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/memory/unified_buffer.hpp"

namespace rondo::workloads {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using boids::space;

/// The wind at the beginning: a random vector at each corner of a coarse grid, and smooth between them. In whole
/// numbers, so that it is the same everywhere.
class wind {
 public:
  explicit wind(std::uint64_t seed) {
    for (std::uint64_t n = 0; n < std::size(corners_); ++n) {
      auto const random = scatter_bits(seed + n);
      corners_[n] = {static_cast<std::int16_t>(random), static_cast<std::int16_t>(random >> 16)};
    }
  }
  struct vector {
    std::int32_t x, y;  // from -32768 to 32767
  };
  vector at(std::uint32_t x, std::uint32_t y) const {
    auto const column = line_of(x), row = line_of(y);
    auto const right = (column + 1) % side, down = (row + 1) % side;
    auto const across = smooth(x), along = smooth(y);
    return mixed(mixed(corners_[row * side + column], corners_[row * side + right], across),
                 mixed(corners_[down * side + column], corners_[down * side + right], across), along);
  }

 private:
  static constexpr std::uint32_t side = 10;

  static std::uint32_t line_of(std::uint32_t position) {
    return static_cast<std::uint32_t>((std::uint64_t{position} * side) >> 32);
  }
  /// From one corner to the next, 0 to 65536, with no edge at either.
  static std::int64_t smooth(std::uint32_t position) {
    auto const part = static_cast<std::int64_t>((std::uint64_t{position} * side) >> 16 & 0xffff);
    return ((part * part >> 16) * (3 * 65'536 - 2 * part)) >> 16;
  }
  static vector mixed(vector a, vector b, std::int64_t part) {
    auto const one = [&](std::int64_t from, std::int64_t to) {
      return static_cast<std::int32_t>(from + ((to - from) * part >> 16));
    };
    return {one(a.x, b.x), one(a.y, b.y)};
  }

  vector corners_[side * side];
};

/// Agent number n to element n.
std::vector<agent> by_number(std::span<agent const> agents) {
  std::vector<agent> sorted(agents.size());
  for (auto const& a : agents) sorted.at(a.number) = a;
  return sorted;
}

}  // namespace

std::vector<agent> scattered(std::uint32_t count, std::uint64_t seed) {
  auto const first = scatter_bits(seed + 1);
  wind const blows(first);
  std::vector<agent> agents(count);
  for (std::uint32_t n = 0; n < count; ++n) {
    auto const place = scatter_bits(first ^ (2 * std::uint64_t{n} + 1));
    auto const x = static_cast<std::uint32_t>(place), y = static_cast<std::uint32_t>(place >> 32);
    // Mostly with the wind: an eighth of the way, each goes its own.
    auto const own = scatter_bits(place + seed);
    auto const with = blows.at(x, y);
    auto const velocity = [](std::int32_t wind, std::uint64_t random) {
      return static_cast<std::int16_t>((7 * wind + static_cast<std::int16_t>(random)) / 8);
    };
    agents[n] = {x, y, velocity(with.x, own), velocity(with.y, own >> 16), n};
  }
  return agents;
}

boids::space world_of(std::uint32_t agents, flock_options const& options) {
  if (agents == 0 || agents > most_agents)
    throw std::invalid_argument(fmt::format("a flock has 1 to {} agents, not {}", most_agents, agents));
  auto sight = options.sight;
  if (sight == 0) sight = std::clamp(std::sqrt(3.0 / agents), least_sight, most_sight);
  if (!(sight >= least_sight && sight <= most_sight))
    throw std::invalid_argument(fmt::format("an agent sees from {} to {} of the world's side, not {}",
                                            least_sight, most_sight, sight));
  return space(static_cast<std::uint32_t>(sight * 0x1p32));
}

std::uint64_t flock_bytes(std::uint32_t agents, flock_options const& options) {
  return sizeof(agent) * std::uint64_t{agents} +
         flock_places::bytes(agents, world_of(agents, options).cells());
}

flock_flight fly_flock(runtime& rt, std::vector<agent> agents, flock_options const& options,
                       flock_watch const& watch) {
  auto const count = static_cast<std::uint32_t>(agents.size());
  auto const world = world_of(count, options);
  auto const memory = rt.memory(options.device);
  unified_buffer<agent> flying(memory, {count});
  std::ranges::copy(agents, flying.overwrite().value().begin());
  unified_buffer<std::byte> places(memory, {flock_places::bytes(count, world.cells())});

  auto const actor = rt.launch<flock>({}, {.device = options.device});
  flock_flight flight;
  // Those who see each step ask for one at a time.
  auto const at_once = watch.show ? 1 : options.steps;
  for (std::uint32_t done = 0; done < options.steps; done += at_once) {
    fly const request{flying.device_for_writing().value(), places.device_for_overwriting().value(),
                      world.radius, at_once};
    auto const began = clock::now();
    auto end = actor.ask(request, 24h, boost::asio::use_future);
    while (end.wait_for(200ms) != std::future_status::ready) {
      auto const seen = actor.ask(steps_flown{}, {.timeout = 10s, .priority = 255}, block);
      if (seen && watch.report) watch.report(done + seen->steps);
    }
    auto const made = end.get();
    flight.seconds += std::chrono::duration<double>(clock::now() - began).count();
    if (made.status != errc::ok) throw boost::system::system_error(made.status, "the steps of a flock");
    if (!watch.show) continue;
    watch.show(flying.host().value().span());
    if (watch.report) watch.report(done + at_once);
  }
  flight.agents = by_number(flying.host().value().span());
  static_cast<void>(terminate(actor, termination::discard, block));
  return flight;
}

flock_flight fly_plainly(std::vector<agent> agents, flock_options const& options) {
  auto const world = world_of(static_cast<std::uint32_t>(agents.size()), options);
  auto const side = world.side;
  std::vector<std::vector<agent>> cells(world.cells());
  auto const began = clock::now();
  for (std::uint32_t step = 0; step < options.steps; ++step) {
    for (auto& c : cells) c.clear();
    for (auto const& a : agents) cells[world.cell_of(a)].push_back(a);  // in the order of numbers
    std::vector<agent const*> row;
    for (auto& me : agents) {
      auto const column_of = world.line_of(me.x), row_of = world.line_of(me.y);
      boids::surroundings seen;
      for (auto const r : {row_of + side - 1, row_of, row_of + 1}) {
        row.clear();
        for (auto const c : {column_of + side - 1, column_of, column_of + 1})
          for (auto const& other : cells[r % side * side + c % side]) row.push_back(&other);
        auto const count = std::min<std::size_t>(row.size(), flock::most_of_row),
                   first = (row.size() - count) / 2;
        for (auto const* other : std::span(row).subspan(first, count)) seen.look_at(world, me, *other);
      }
      me = boids::moved(world, me, seen);  // others see where it was: the cells have copies
    }
  }
  return {std::move(agents), std::chrono::duration<double>(clock::now() - began).count()};
}

std::uint64_t checksum(std::span<agent const> agents) {
  std::uint64_t sum = 0;
  for (auto const& a : agents) {
    auto const velocity =
        static_cast<std::uint32_t>(static_cast<std::uint16_t>(a.vx)) << 16 | static_cast<std::uint16_t>(a.vy);
    sum += scatter_bits(scatter_bits((std::uint64_t{a.x} << 32 | a.y) + a.number) +
                        (std::uint64_t{velocity} << 32 | a.number));
  }
  return sum;
}

}  // namespace rondo::workloads
