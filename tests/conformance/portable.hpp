// The portable behaviours of the conformance suite: on a GPU without a ring kernel their handlers run in packs
// (kernels/portable/behaviour.hpp). The compilers of such GPUs read this file.
#pragma once

#include "kernels/portable/behaviour.hpp"

namespace conformance {

/// The `sequence`-th of `sender`.
struct numbered {
  unsigned sender, sequence;
};
struct read_numbers {};
struct number_tally {
  unsigned long handled, disorder;
};
/// Tells `count` numbered messages, from `first` on, to a number_keeper.
struct pass_numbers {
  rondo::actor_id to;
  unsigned sender, first, count;
};

/// Counts what arrives out of order.
struct number_keeper {
  using messages = rondo::messages<numbered, rondo::ask<read_numbers, number_tally>>;
  using sends = rondo::messages<>;
  template <class Context>
  RONDO_PORTABLE void on(RONDO_PRIVATE Context&, RONDO_PRIVATE numbered const& m) {
    if (m.sequence != next[m.sender % 32]) ++disorder;
    next[m.sender % 32] = m.sequence + 1;
    ++handled;
  }
  template <class Context>
  RONDO_PORTABLE number_tally on(RONDO_PRIVATE Context&, RONDO_PRIVATE read_numbers const&) {
    number_tally answer;
    answer.handled = handled;
    answer.disorder = disorder;
    return answer;
  }
  unsigned next[32] = {};
  unsigned long handled = 0, disorder = 0;
};
RONDO_PORTABLE_BEHAVIOUR(number_keeper, run_number_keeper);

/// Sends many messages.
struct number_source {
  using messages = rondo::messages<pass_numbers>;
  using sends = rondo::messages<numbered>;
  template <class Context>
  RONDO_PORTABLE void on(RONDO_PRIVATE Context& ctx, RONDO_PRIVATE pass_numbers const& m) {
    rondo::address<number_keeper> to;
    to.id = m.to;
    for (unsigned i = 0; i < m.count; ++i) {
      numbered n;
      n.sender = m.sender;
      n.sequence = m.first + i;
      ctx.tell(to, n);
    }
  }
};
RONDO_PORTABLE_BEHAVIOUR(number_source, run_number_source);

struct deposit {
  long amount;
};
/// A negative amount fails the handler, after it has been taken.
struct withdraw {
  long amount;
};
struct read_balance {};
struct balance {
  long value, handled;
};
/// Answers twice if `times` is 2, and not at all if it is 0.
struct answer_times {
  unsigned times;
};
struct answered {
  unsigned number;
};
/// Some arithmetic.
struct work_hard {
  unsigned rounds, seed;
};
struct worked {
  unsigned result;
};
/// Notes the order in which messages come.
struct listed {
  unsigned value;
};
struct read_list {};
struct list_page {
  unsigned count, values[20];
};

RONDO_PORTABLE unsigned arithmetic(unsigned rounds, unsigned seed) {
  for (unsigned i = 0; i < rounds; ++i) seed = seed * 1664525u + 1013904223u;
  return seed;
}

struct account {
  using messages = rondo::messages<deposit, withdraw, rondo::ask<read_balance, balance>,
                                   rondo::ask<answer_times, answered>, rondo::ask<work_hard, worked>, listed,
                                   rondo::ask<read_list, list_page>>;
  using sends = rondo::messages<>;
  template <class Context>
  RONDO_PORTABLE void on(RONDO_PRIVATE Context&, RONDO_PRIVATE deposit const& m) {
    value += m.amount;
    ++handled;
  }
  template <class Context>
  RONDO_PORTABLE void on(RONDO_PRIVATE Context& ctx, RONDO_PRIVATE withdraw const& m) {
    value -= m.amount;
    if (m.amount < 0) return ctx.fail();
    ++handled;
  }
  template <class Context>
  RONDO_PORTABLE balance on(RONDO_PRIVATE Context&, RONDO_PRIVATE read_balance const&) {
    balance answer;
    answer.value = value;
    answer.handled = handled;
    return answer;
  }
  template <class Context>
  RONDO_PORTABLE void on(RONDO_PRIVATE Context& ctx, RONDO_PRIVATE answer_times const& m) {
    answered answer;
    for (answer.number = 0; answer.number < m.times; ++answer.number) ctx.reply(answer);
  }
  template <class Context>
  RONDO_PORTABLE worked on(RONDO_PRIVATE Context&, RONDO_PRIVATE work_hard const& m) {
    worked answer;
    answer.result = arithmetic(m.rounds, m.seed);
    return answer;
  }
  template <class Context>
  RONDO_PORTABLE void on(RONDO_PRIVATE Context&, RONDO_PRIVATE listed const& m) {
    if (list.count < 20) list.values[list.count++] = m.value;
  }
  template <class Context>
  RONDO_PORTABLE list_page on(RONDO_PRIVATE Context&, RONDO_PRIVATE read_list const&) {
    return list;
  }
  long value = 0, handled = 0;
  list_page list = {};
};
RONDO_PORTABLE_BEHAVIOUR(account, run_account);

/// A number goes around: each actor passes it to the next one.
struct token {
  rondo::actor_id first;
  unsigned hops;
};
struct read_hops {};
struct hops {
  unsigned long seen;
};
struct token_ring {
  using messages = rondo::messages<token, rondo::ask<read_hops, hops>>;
  using sends = rondo::messages<token>;
  template <class Context>
  RONDO_PORTABLE void on(RONDO_PRIVATE Context& ctx, RONDO_PRIVATE token const& m) {
    ++seen;
    if (m.hops == 0) return;
    token on = m;
    --on.hops;
    rondo::address<token_ring> next;
    next.id = m.first;
    on.first = ctx.self();
    ctx.tell(next, on, 200u);
  }
  template <class Context>
  RONDO_PORTABLE hops on(RONDO_PRIVATE Context&, RONDO_PRIVATE read_hops const&) {
    hops answer;
    answer.seen = seen;
    return answer;
  }
  unsigned long seen = 0;
};
RONDO_PORTABLE_BEHAVIOUR(token_ring, run_token_ring);

}  // namespace conformance
