// A behaviour of states: a valve, which is shut or flows.
#pragma once

#include "actors/states/states.hpp"

namespace conformance {

/// Flows from now on; taken by a valve that is shut. Answered with how often it was shut.
struct turn_on {
  std::uint32_t sum;
};
/// Taken while it flows. Shut from now on.
struct turn_off {};
/// Taken by both: a valve that is shut flows, and then takes the same message once more.
struct flush {
  std::uint32_t amount;
};
/// Taken while it flows, in batches.
struct drop {
  std::uint32_t amount;
};
/// Asks for all drops: the digits of `drops` are their amounts, in order.
struct read_flow {};
struct flow {
  std::uint64_t drops;
};
/// Taken by both.
struct read_turns {};
struct turns {
  std::uint32_t times_shut, flows, started;
};
/// Fails.
struct burst {};
/// Asks for `again`, which only a flowing valve lists, and is shut before it comes.
struct drip {};

template <rondo::width W>
struct flowing;
template <rondo::width W>
struct shut {
  using messages = rondo::messages<rondo::ask<turn_on, turns>, flush, rondo::ask<read_turns, turns>>;
  static constexpr auto width = W;
  std::uint32_t times = 0, started = 0;

  RONDO_HD void on_start(rondo::context& ctx) {
    if (ctx.team().leader()) started = 1;
  }
  RONDO_HD turns on(rondo::context& ctx, turn_on const& m);
  RONDO_HD void on(rondo::context& ctx, flush const& m);
  RONDO_HD turns on(rondo::context&, read_turns const&) { return {times, 0, started}; }
};
template <rondo::width W>
struct flowing {
  using messages = rondo::messages<turn_off, flush, drop, rondo::ask<read_flow, flow>,
                                   rondo::ask<read_turns, turns>, burst, drip, rondo::again>;
  static constexpr auto width = W;
  std::uint64_t drops;
  std::uint32_t times_shut;
  double unused[3] = {};  // larger than the other state

  RONDO_HD void on(rondo::context& ctx, turn_off const&);
  RONDO_HD void on(rondo::context& ctx, flush const& m) { add(ctx, m.amount); }
  RONDO_HD void on(rondo::context& ctx, rondo::batch<drop> const& some) {
    for (auto const& d : some) add(ctx, d.amount);
  }
  RONDO_HD flow on(rondo::context&, read_flow const&) { return {drops}; }
  RONDO_HD turns on(rondo::context&, read_turns const&) { return {times_shut, 1, 0}; }
  RONDO_HD void on(rondo::context& ctx, burst const&) { ctx.fail(); }
  RONDO_HD void on(rondo::context& ctx, drip const&);
  RONDO_HD void on(rondo::context& ctx, rondo::again const&) { add(ctx, 9); }

  RONDO_HD void add(rondo::context& ctx, std::uint32_t amount) {
    if (ctx.team().leader()) drops = drops * 10 + amount;
  }
};
template <rondo::width W>
struct valve_of : rondo::states<shut<W>, flowing<W>> {};

template <rondo::width W>
RONDO_HD turns shut<W>::on(rondo::context& ctx, turn_on const& m) {
  valve_of<W>::become(ctx, shut{});  // the last one counts
  valve_of<W>::become(ctx, flowing<W>{m.sum, times});
  return {times, 0, started};  // this state is still there
}
template <rondo::width W>
RONDO_HD void shut<W>::on(rondo::context& ctx, flush const&) {
  valve_of<W>::become(ctx, flowing<W>{0, times});
  ctx.stash();
}
template <rondo::width W>
RONDO_HD void flowing<W>::on(rondo::context& ctx, turn_off const&) {
  valve_of<W>::become(ctx, shut<W>{times_shut + 1});
}
template <rondo::width W>
RONDO_HD void flowing<W>::on(rondo::context& ctx, drip const&) {
  ctx.again();
  valve_of<W>::become(ctx, shut<W>{times_shut + 1});
}

struct valve : valve_of<RONDO_DEFAULT_WIDTH> {};
struct valve_together : valve_of<rondo::width::whole_team> {};
static_assert(rondo::takes<valve, drop> && rondo::takes<valve, turn_on> && !rondo::takes<valve, turns>);

}  // namespace conformance
