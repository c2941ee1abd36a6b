// A later version of the suite's module: adders with a new feature, unchanged journals, and no other behaviours.
#pragma once

#include "tests/conformance/behaviours.hpp"

namespace conformance {

struct get_more {};
struct more {
  uint64_t sum, adds, taken_over;
};

/// Also counts its additions.
struct counting_adder {
  using messages = rondo::messages<add, hold, rondo::ask<get, total>, rondo::ask<get_more, more>>;
  using upgrades = adder;
  uint64_t sum = 0, adds = 0, taken_over = 0;
  uint64_t room[20] = {};  // makes the state larger than that of its predecessor

  RONDO_HD void upgrade(adder const& old) {
    sum = taken_over = old.sum;
    room[19] = ~sum;
  }
  RONDO_HD void on(rondo::context&, add const& m) {
    sum += m.amount;
    ++adds;
  }
  RONDO_HD void on(rondo::context&, hold const& m) { m.at->pass(); }
  RONDO_HD void on(rondo::context& ctx, get const&) { ctx.reply(total{sum}); }
  RONDO_HD void on(rondo::context& ctx, get_more const&) {
    ctx.reply(more{sum, adds, room[19] == ~taken_over ? taken_over : 0});
  }
};

RONDO_MODULE(testbed_next, journal, counting_adder)

}  // namespace conformance
