// Behaviours that go on without a message.
#pragma once

#include "kernels/actor/module.hpp"
#include "tests/conformance/in_reach.hpp"

namespace conformance {

/// Takes `count` steps, which `steps` counts; fails instead of the step before which `fail_at` are left, if that is not
/// 0.
struct walk {
  word* steps;
  std::uint32_t count, fail_at;
};
struct steps_left {};
struct left_to_walk {
  std::uint32_t steps;
};
struct walker {
  using messages = rondo::messages<walk, rondo::again, rondo::ask<steps_left, left_to_walk>>;
  static constexpr bool holds_addresses = false;  // that matter: tests restore it in the same process
  word* steps = nullptr;
  std::uint32_t left = 0, fail_at = 0;

  RONDO_HD void on(rondo::context& ctx, walk const& m) {
    steps = m.steps;
    left = m.count;
    fail_at = m.fail_at;
    ctx.again();
    ctx.again();  // once all the same
  }
  RONDO_HD void on(rondo::context& ctx, rondo::again const&) {
    if (left == fail_at) return ctx.fail();
    steps->fetch_add(1, rondo::memory_order::release);
    if (--left != 0) ctx.again();
  }
  RONDO_HD left_to_walk on(rondo::context&, steps_left const&) { return {left}; }
};

/// All lanes of a team take the step together.
struct walkers_together {
  using messages = rondo::messages<walk, rondo::again>;
  static constexpr auto width = rondo::width::whole_team;
  static constexpr bool holds_addresses = false;  // as above
  word* steps = nullptr;
  std::uint32_t left = 0;

  RONDO_HD void on(rondo::context& ctx, walk const& m) {
    if (ctx.team().leader()) steps = m.steps, left = m.count;
    ctx.again();
  }
  RONDO_HD void on(rondo::context& ctx, rondo::again const&) {
    auto const goes_on = ctx.team().broadcast(left > 1);
    if (ctx.team().leader()) --left, steps->fetch_add(1, rondo::memory_order::release);
    if (goes_on) ctx.again();
  }
};

/// Wants to go on, but does not list `again`.
struct forgetful {
  using messages = rondo::messages<steps_left>;
  RONDO_HD void on(rondo::context& ctx, steps_left const&) { ctx.again(); }
};

}  // namespace conformance
