// Where an ask's way through a pinned team is timed, in a build of its own that defines RONDO_WAY_POINTS
// (bench/gpu/ask_steps.hpp). In all others nothing is.
#pragma once

#include "kernels/base/clock.hpp"

namespace rondo {

/// In the order in which an ask passes them; between the second and the third its handler runs.
enum class way_point : std::uint32_t {
  looks,   // the look at the direct ring begins that finds the submission
  finds,   // the lanes have it
  tells,   // the lanes begin to write the reply
  writes,  // they have issued its stores
};

#if defined(RONDO_WAY_POINTS) && defined(__CUDA_ARCH__)
/// Of each block: when each was passed last, in cycles of the multiprocessor. In a block with one pinned team they are
/// its actor's.
static __shared__ std::uint32_t volatile way_point_cycles[4];

__device__ inline void pass(way_point p) noexcept {
  way_point_cycles[static_cast<std::uint32_t>(p)] = now_cycles();
}
__device__ inline std::uint32_t last_passed(way_point p) noexcept {
  return way_point_cycles[static_cast<std::uint32_t>(p)];
}
#else
/// Notes that this lane has passed `p` now.
RONDO_HD constexpr void pass(way_point) noexcept {}
/// The cycle in which a lane of this block did so last.
RONDO_HD constexpr std::uint32_t last_passed(way_point) noexcept { return 0; }
#endif

}  // namespace rondo
