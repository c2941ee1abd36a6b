// A behaviour that detects whether two of its handlers ever run at once.
#pragma once

#include "kernels/actor/module.hpp"

namespace conformance {

using std::uint32_t;
using std::uint64_t;

/// Does `spins` steps on data that two handlers must not use at once.
struct occupy {
  uint32_t spins;
};
struct occupy_wide {
  uint32_t tiles;
};
struct count_overlaps {};
struct overlap_report {
  uint64_t steps, overlaps, tiles;
};

struct exclusive {
  using messages = rondo::messages<occupy, occupy_wide, rondo::ask<count_overlaps, overlap_report>>;
  uint64_t plain_steps = 0;  // not atomic: two handlers at once are a data race here
  uint32_t inside = 0, overlaps = 0, tiles_inside = 0, tiles_done = 0, expected_tiles = 0;

  RONDO_HD static uint32_t add(uint32_t& to, uint32_t n) {
    return rondo::as_atomic(to).fetch_add(n, rondo::memory_order::acq_rel);
  }
  RONDO_HD static uint32_t read(uint32_t& from) {
    return rondo::as_atomic(from).load(rondo::memory_order::acquire);
  }

  RONDO_HD void enter() {
    if (add(inside, 1) != 0) add(overlaps, 1);
    if (read(tiles_inside) != 0) add(overlaps, 1);
  }
  RONDO_HD void leave() { add(inside, ~0u); }

  RONDO_HD void on(rondo::context&, occupy const& m) {
    enter();
    for (uint32_t i = 0; i < m.spins; ++i) rondo::relax();
    ++plain_steps;
    leave();
  }
  RONDO_HD uint32_t tiles(rondo::context&, occupy_wide const& m) {
    enter();
    expected_tiles += m.tiles;
    leave();
    return m.tiles;
  }
  RONDO_HD void tile(rondo::context&, occupy_wide const&, uint32_t) {
    add(tiles_inside, 1);
    if (read(inside) != 0) add(overlaps, 1);
    for (int i = 0; i < 50; ++i) rondo::relax();
    add(tiles_done, 1);
    add(tiles_inside, ~0u);
  }
  RONDO_HD void finish(rondo::context&, occupy_wide const&) {
    enter();
    if (tiles_done != expected_tiles) ++overlaps;
    ++plain_steps;
    leave();
  }
  RONDO_HD void on(rondo::context& ctx, count_overlaps const&) {
    ctx.reply(overlap_report{plain_steps, overlaps, tiles_done});
  }
};

}  // namespace conformance
