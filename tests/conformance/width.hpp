// Behaviours that show how many actors run at once.
#pragma once

#include "kernels/actor/module.hpp"
#include "tests/conformance/in_reach.hpp"

namespace conformance {

/// Waits until `count` handlers are `inside`, but not for ever; `met` counts those that have seen so many.
struct meet {
  word* inside;
  word* met;
  std::uint32_t count;
};
struct guest {
  using messages = rondo::messages<meet>;
  static constexpr auto width = rondo::width::lane;

  RONDO_HD void on(rondo::context& ctx, meet const& m) {
    m.inside->fetch_add(1, rondo::memory_order::acq_rel);
    auto const until_ns = ctx.now_ns() + 2'000'000'000;
    std::uint32_t inside = 0;
    do {
      rondo::yield_thread();
      inside = m.inside->load(rondo::memory_order::acquire);
    } while (inside < m.count && ctx.now_ns() < until_ns);
    if (inside >= m.count && ctx.team().lanes() == 1) m.met->fetch_add(1, rondo::memory_order::release);
  }
};

/// Sends each guest, from `first` on, the message.
struct convene {
  rondo::actor_id first;
  meet how;
};
struct host_of_guests {
  using messages = rondo::messages<convene>;
  RONDO_HD void on(rondo::context& ctx, convene const& m) {
    auto to = m.first;
    for (std::uint32_t i = 0; i < m.how.count; ++i, ++to.index)
      if (ctx.tell(rondo::address<guest>{to}, m.how) != rondo::errc::ok) ctx.fail();
  }
};

}  // namespace conformance
