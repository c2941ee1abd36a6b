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
struct counter {
  using messages = rondo::messages<add, rondo::ask<get, total>>;
  std::uint64_t sum = 0;
  RONDO_HD void on(rondo::context&, add const& m) { sum += m.amount; }
  RONDO_HD void on(rondo::context& ctx, get const&) { ctx.reply(total{sum}); }
};

/// All lanes add up their shares.
struct summand {
  std::uint32_t up_to;
};
struct adder {
  using messages = rondo::messages<rondo::ask<summand, total>>;
  static constexpr bool cooperative = true;
  RONDO_HD void on(rondo::context& ctx, summand const& m) {
    std::uint64_t mine = 0;
    for (auto i : ctx.lanes(m.up_to)) mine += i;
    ctx.reply(total{ctx.team().sum(mine)});
  }
};

RONDO_MODULE(counters, counter, adder)

}  // namespace ptx_counter
