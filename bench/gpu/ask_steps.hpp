// An ask's way through a pinned team, step by step: an actor that answers with when the ask before it passed each
// point. A module of its own, because its ring kernel takes the time at these points (kernels/base/way_points.hpp).
#pragma once

#include "kernels/actor/module.hpp"
#include "kernels/base/way_points.hpp"

namespace rondo::bench::gpu {

struct step_ping {
  std::uint64_t number;
};
/// The ask before, in cycles of the multiprocessor; of the first ask, nothing.
struct step_pong {
  std::uint64_t number;
  std::uint32_t looks, finds, begins, ends, tells, writes;

  /// The steps between the points.
  static constexpr std::uint32_t steps = 5;
  static constexpr char const* step_names[steps] = {"look", "guards", "handler", "conclusion", "reply"};
  std::uint32_t cycles_of(std::uint32_t step) const noexcept {
    std::uint32_t const points[] = {looks, finds, begins, ends, tells, writes};
    return points[step + 1] - points[step];
  }
};

struct stepper {
  using messages = rondo::messages<ask<step_ping, step_pong>>;
  step_pong before{};

  RONDO_HD void on(context& ctx, step_ping const& m) {
    auto const begins = now();
    auto& last = before;
    if (m.number == 0) pass(way_point::tells), pass(way_point::writes);  // nobody has yet
    last.number = m.number + 1;
    last.tells = last_passed(way_point::tells);
    last.writes = last_passed(way_point::writes);
    ctx.reply(last);
    last = {0, last_passed(way_point::looks), last_passed(way_point::finds), begins, now(), 0, 0};
  }

 private:
  RONDO_HD static std::uint32_t now() noexcept {
#if defined(__CUDA_ARCH__)
    return now_cycles();
#else
    return 0;
#endif
  }
};

RONDO_MODULE(ask_steps, stepper)

}  // namespace rondo::bench::gpu
