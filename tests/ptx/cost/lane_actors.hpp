// The same behaviours with a lane for each actor, and one of which there may be a million.
#pragma once

#include "tests/ptx/cost/actors.hpp"

namespace ptx_cost {

/// A visit makes the actor send it on, to one of `actors` at random.
struct visit {
  std::uint32_t first;  // of the actors, in their first life
  std::uint32_t actors;
  std::uint32_t dice;  // decides where it goes
};
struct wanderer {
  using messages = rondo::messages<visit>;
  static constexpr auto width = rondo::width::lane;
  std::uint64_t visits = 0, refusals = 0;

  RONDO_HD void on(rondo::context& ctx, visit const& m) {
    ++visits;
    visit next = m;
    for (;;) {
      next.dice ^= next.dice << 13, next.dice ^= next.dice >> 17, next.dice ^= next.dice << 5;  // xorshift
      auto const place = static_cast<std::uint32_t>(std::uint64_t{next.dice} * next.actors >> 32);
      if (ctx.tell(rondo::address<wanderer>{{next.first + place, 1}}, next) == rondo::errc::ok) return;
      ++refusals;
    }
  }
};

RONDO_MODULE(lane_actors, behaviours::echo, behaviours::player, behaviours::consumer,
             behaviours::batch_consumer, behaviours::producer, behaviours::trader, wanderer)

}  // namespace ptx_cost
