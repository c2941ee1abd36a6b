// A small module, for the tests of the device ptx.
#pragma once

#include "kernels/actor/context.hpp"
#include "kernels/actor/module.hpp"

namespace ptx_counter {

struct add {
  std::uint64_t amount;
};
struct get {};
struct total {
  std::uint64_t value;
};
struct use_team {};
struct counter {
  using messages = rondo::messages<add, rondo::ask<get, total>, rondo::ask<use_team, total>>;
  std::uint64_t sum = 0;
  RONDO_HD void on(rondo::context&, add const& m) { sum += m.amount; }
  RONDO_HD void on(rondo::context& ctx, get const&) { ctx.reply(total{sum}); }
  /// A team of one, though its warp has more lanes: one bit from each of its operations.
  RONDO_HD void on(rondo::context& ctx, use_team const&) {
    auto const& team = ctx.team();
    auto const plus = [](std::uint64_t a, std::uint64_t b) { return a + b; };
    team.sync();
    std::uint64_t bits = team.broadcast(std::uint64_t{1}) + team.sum(std::uint64_t{2});
    bits += team.scan(std::uint64_t{4}, plus) + team.any_bits(8);
    bits += (team.any(true) ? 16 : 0) + (team.all(true) ? 32 : 0);
    ctx.reply(total{bits});
  }
};

/// All lanes add up their shares.
struct summand {
  std::uint32_t up_to;
};
struct adder {
  using messages = rondo::messages<rondo::ask<summand, total>>;
  static constexpr auto width = rondo::width::whole_team;
  RONDO_HD void on(rondo::context& ctx, summand const& m) {
    std::uint64_t mine = 0;
    for (auto i : ctx.lanes(m.up_to)) mine += i;
    ctx.reply(total{ctx.team().sum(mine)});
  }
};

/// Lanes that come together, and by two ways, each take a number of one of two counters.
struct take_numbers {
  std::uint32_t rounds;
};
struct dispenser {
  using messages = rondo::messages<rondo::ask<take_numbers, total>>;
  static constexpr auto width = rondo::width::whole_team;
  rondo::atomic<std::uint32_t> next[2];

  RONDO_HD void on(rondo::context& ctx, take_numbers const& m) {
    std::uint64_t sum = 0;  // of the numbers' squares
    for (std::uint32_t round = 0; round < m.rounds; ++round) {
      std::uint64_t number = 0;
      if ((ctx.team().lane() + round) % 4 == 0)
        number = rondo::hardware::take_number(next[0]);
      else
        number = rondo::hardware::take_number(next[ctx.team().lane() % 3 == 0]);
      sum += number * number;
    }
    ctx.reply(total{ctx.team().sum(sum)});
  }
};

RONDO_MODULE(counters, counter, adder, dispenser)

}  // namespace ptx_counter
