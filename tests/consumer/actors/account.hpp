// docs/actors.md, "Portable behaviours": what a GPU's compiler reads, too.
#pragma once

#include "kernels/portable/behaviour.hpp"

struct deposit { int amount; };
struct get_balance {};
struct balance { int value; };

struct account {
  using messages = rondo::messages<deposit, rondo::ask<get_balance, balance>>;
  using sends = rondo::messages<>;  // what it tells other actors
  template <class Context>
  RONDO_PORTABLE void on(RONDO_PRIVATE Context& ctx, RONDO_PRIVATE deposit const& m) {
    if (m.amount < 0) return ctx.fail();
    value += m.amount;
  }
  template <class Context>
  RONDO_PORTABLE balance on(RONDO_PRIVATE Context&, RONDO_PRIVATE get_balance const&) {
    return balance{value};
  }
  int value = 0;
};
RONDO_PORTABLE_BEHAVIOUR(account, run_account);
