// Boids: each agent turns to where its neighbours fly, towards where they are, and away from those that are too near
// (C. Reynolds, "Flocks, Herds, and Schools", 1987). The world is a square whose opposite edges meet.
//
// All of it is in whole numbers, and means are rounded to the nearest, so that every device makes the same of it and no
// direction is preferred. Units:
//   position   2^32 are the world's side; sums and differences wrap around as the world does
//   distance   16384 are the radius, which is how far an agent sees
//   velocity   16384 are the speed at which agents like to fly: an eighth of the radius in a step
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/base/portable.hpp"

namespace rondo::workloads {

struct alignas(16) agent {
  std::uint32_t x, y;    // position
  std::int16_t vx, vy;   // velocity
  std::uint32_t number;  // which one it is, wherever it lies
  friend bool operator==(agent const&, agent const&) = default;
};
static_assert(sizeof(agent) == 16 && std::is_trivially_copyable_v<agent>);

namespace boids {

inline constexpr std::int32_t unit = 1 << 14;

/// To the nearest: `>>` alone goes down, and agents would drift.
template <class Number>
RONDO_HD constexpr Number shifted(Number value, int bits) noexcept {
  return (value + (Number{1} << (bits - 1))) >> bits;
}

/// The world in square cells, none of which is narrower than the radius: the neighbours of an agent are in its own cell
/// and in the eight around it.
struct space {
  /// From 8192 cells in a row, which take half a gigabyte, down to four: with fewer, those to either side could be the
  /// same one.
  static constexpr std::uint32_t least_radius = 1u << 19, most_radius = 1u << 30;

  std::uint32_t radius = most_radius;  // in units of position
  std::uint32_t side = 4;              // cells in a row, and rows
  std::uint32_t scale = 1u << 16;      // from position to distance: times this, over 2^32

  space() = default;
  /// Precondition: `sees` is from least_radius to most_radius.
  RONDO_HD constexpr explicit space(std::uint32_t sees) noexcept
      : radius(sees),
        side(static_cast<std::uint32_t>((1ull << 32) / sees)),
        scale(static_cast<std::uint32_t>((1ull << 46) / sees)) {}

  RONDO_HD constexpr std::uint32_t cells() const noexcept { return side * side; }
  /// The column of x, or the row of y.
  RONDO_HD constexpr std::uint32_t line_of(std::uint32_t position) const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{position} * side) >> 32);
  }
  RONDO_HD constexpr std::uint32_t cell_of(agent const& a) const noexcept {
    return line_of(a.y) * side + line_of(a.x);
  }
  /// The distance along an axis, by the shorter way.
  RONDO_HD constexpr std::int32_t between(std::uint32_t from, std::uint32_t to) const noexcept {
    return static_cast<std::int32_t>(
        shifted(std::int64_t{static_cast<std::int32_t>(to - from)} * std::int64_t{scale}, 32));
  }
  RONDO_HD constexpr std::uint32_t after_a_step(std::uint32_t position,
                                                std::int32_t velocity) const noexcept {
    return position + static_cast<std::uint32_t>(shifted(std::int64_t{velocity} * (radius / 8), 14));
  }
};

/// What an agent sees of others, added up. Sums of whole numbers are the same in any order.
struct surroundings {
  std::int32_t count = 0;
  std::int32_t x = 0, y = 0;    // how far they are away
  std::int32_t vx = 0, vy = 0;  // their velocities
  /// How far they are away, times 256 for those at the same place, down to 0 for those at half the radius.
  std::int32_t push_x = 0, push_y = 0;

  /// `other` is of a cell beside that of `me`, or of the same. Without branches, which would be mispredicted: a third
  /// of those looked at are neighbours. An agent at the very same place is none; so `me` does not see itself.
  RONDO_HD constexpr void look_at(space const& world, agent const& me, agent const& other) noexcept {
    constexpr auto sees = std::uint32_t{unit} * unit, crowds = sees / 4;  // squares of distances
    auto const dx = world.between(me.x, other.x), dy = world.between(me.y, other.y);
    auto const square = static_cast<std::uint32_t>(dx * dx) + static_cast<std::uint32_t>(dy * dy);
    auto const mask = -static_cast<std::int32_t>(square - 1 < sees - 1);
    auto const nearness = static_cast<std::int32_t>((square < crowds ? crowds - square : 0) >> 18);
    count -= mask;
    x += dx & mask, y += dy & mask;
    vx += other.vx & mask, vy += other.vy & mask;
    push_x += dx * nearness, push_y += dy * nearness;
  }
};

/// One component of a velocity, turned by what is seen: an eighth of the way to the mean velocity of the others, to
/// their middle by 1/32 of its distance, and by an eighth of the distance away from each that is too near. `share`:
/// 65536 divided by their number, so that there is one division for all means.
RONDO_HD constexpr std::int32_t steered(std::int32_t velocity, std::int32_t velocities,
                                        std::int32_t distances, std::int32_t push,
                                        std::int32_t share) noexcept {
  auto const mean = [&](std::int32_t sum) {
    return static_cast<std::int32_t>(shifted(std::int64_t{sum} * share, 16));
  };
  auto const wanted = velocity + shifted(4 * (mean(velocities) - velocity) + mean(distances) - push / 64, 5);
  constexpr std::int32_t most = 2 * unit - 1;
  return wanted > most ? most : wanted < -most ? -most : wanted;
}

/// The agent after a step, by what it sees.
RONDO_HD constexpr agent moved(space const& world, agent me, surroundings const& others) noexcept {
  std::int32_t vx = me.vx, vy = me.vy;
  if (others.count != 0) {
    auto const share = 65'536 / others.count;
    vx = steered(vx, others.vx, others.x, others.push_x, share);
    vy = steered(vy, others.vy, others.y, others.push_y, share);
  }
  // The speed returns to 1 without a square root: times (3 - square) / 2, a step of Newton's method for 1/sqrt(square).
  auto const square = static_cast<std::uint32_t>(vx * vx) + static_cast<std::uint32_t>(vy * vy);
  auto const factor = (3 * unit - static_cast<std::int32_t>(square >> 14)) / 2;
  auto const kept = factor > unit / 2 ? factor : unit / 2;
  me.vx = static_cast<std::int16_t>(shifted(vx * kept, 14));
  me.vy = static_cast<std::int16_t>(shifted(vy * kept, 14));
  me.x = world.after_a_step(me.x, me.vx);
  me.y = world.after_a_step(me.y, me.vy);
  return me;
}

}  // namespace boids
}  // namespace rondo::workloads
