// What the bench of portable behaviours runs: a GPU's compiler reads it, too.
#pragma once

#include "kernels/portable/behaviour.hpp"

namespace portable_bench {

/// A step of some arithmetic; the last of a round is reported.
struct step {
  unsigned rounds, is_last;
  rondo::actor_id reports_to;
};
struct finished {
  unsigned result;
};
/// The other side of `finished`, for its address.
struct takes_finished {
  using messages = rondo::messages<finished>;
};
struct look {};
struct looked {
  unsigned result;
};

struct worker {
  using messages = rondo::messages<step, rondo::ask<look, looked>>;
  using sends = rondo::messages<finished>;
  template <class Context>
  RONDO_PORTABLE void on(RONDO_PRIVATE Context& ctx, RONDO_PRIVATE step const& m) {
    for (unsigned i = 0; i < m.rounds; ++i) result = result * 1664525u + 1013904223u;
    ++handled;
    if (m.is_last == 0) return;
    finished f;
    f.result = result;
    rondo::address<takes_finished> to;
    to.id = m.reports_to;
    ctx.tell(to, f);
  }
  template <class Context>
  RONDO_PORTABLE looked on(RONDO_PRIVATE Context&, RONDO_PRIVATE look const&) {
    looked answer;
    answer.result = result;
    return answer;
  }
  unsigned result = 1, handled = 0;
};
RONDO_PORTABLE_BEHAVIOUR(worker, run_worker);

}  // namespace portable_bench
