// A flock on a runtime whose module has the behaviour `flock`.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "actors/workloads/flock.hpp"
#include "runtime/runtime.hpp"

namespace rondo::workloads {

struct flock_options {
  /// How far an agent sees, as a part of the world's side: from least_sight to most_sight. 0: so far that a cell has
  /// three agents in the mean.
  double sight = 0;
  std::uint32_t steps = 100;
  std::uint32_t device = 0;
};
inline constexpr double least_sight = 1.0 / 8192, most_sight = 0.25;
inline constexpr std::uint32_t most_agents = 1u << 26;

/// Agents at random places. Those of a region fly in about the same direction. Under the same seed, they are the same
/// everywhere. Agent number n is element n.
std::vector<agent> scattered(std::uint32_t count, std::uint64_t seed);

/// The world for so many agents. Throws std::invalid_argument if the options' sight is out of bounds.
boids::space world_of(std::uint32_t agents, flock_options const& options);

/// What a caller may see while a flock flies; each may be empty.
struct flock_watch {
  std::function<void(std::uint32_t steps)> report{};  // five times a second, or after each step
  /// The agents after each step, in any order. The flock waits meanwhile.
  std::function<void(std::span<agent const>)> show{};
};
struct flock_flight {
  std::vector<agent> agents;  // at the end; number n is element n
  double seconds = 0;         // of the steps alone
};

/// Bytes of buffers that this takes, on the device, and on the host besides.
std::uint64_t flock_bytes(std::uint32_t agents, flock_options const& options);
/// Moves agents with the numbers from 0 on, in any order. Blocks. Throws std::invalid_argument if there are none, or
/// more than most_agents, or if the sight is out of bounds; boost::system::system_error, with out_of_memory if the
/// runtime's buffers may not be as large as flock_bytes.
flock_flight fly_flock(runtime& rt, std::vector<agent> agents, flock_options const& options,
                       flock_watch const& watch = {});

/// The same by plain loops on one thread, as a reference.
flock_flight fly_plainly(std::vector<agent> agents, flock_options const& options);

/// Of all positions and velocities, in whatever order agents lie: two flocks with the same sum are the same flock.
std::uint64_t checksum(std::span<agent const> agents);

}  // namespace rondo::workloads
