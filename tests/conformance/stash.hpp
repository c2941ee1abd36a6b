// Behaviours that stash what they cannot handle yet.
#pragma once

#include "kernels/actor/module.hpp"

namespace conformance {

inline constexpr std::uint32_t parcel_senders = 4;

/// Stashed by an actor that is not open. A sender counts its parcels, of each priority.
struct parcel {
  std::uint32_t sender, value;
};
/// The same, handled in batches, as a wide message, and with an answer. In the wide message, `wrong` stashes or
/// unstashes in a tile.
struct crate {
  std::uint32_t sender, value;
};
enum class misplaced : std::uint32_t { nothing, stash, unstash };
struct load {
  std::uint32_t value;
  misplaced wrong;
};
struct collect {
  std::uint32_t value;
};
struct collected {
  std::uint32_t value;
};
/// Opens the actor, which then unstashes, or closes it.
struct set_open {
  std::uint32_t is_open;
};
/// Opens the actor if it is closed, by way of the stash.
struct force {
  std::uint32_t value;
};
struct drop_all {};
/// The handler of `again` stashes.
struct stash_again {};
struct read_parcels {};
struct parcel_log {
  std::uint32_t handled = 0, calls = 0;  // calls: also those that stashed
  std::uint32_t disorder = 0;
  std::uint32_t values[16] = {};  // the first ones, in the order in which they were handled
};

template <rondo::width W>
struct porter_of {
  using messages = rondo::messages<parcel, crate, load, rondo::ask<collect, collected>, set_open, force,
                                   drop_all, stash_again, rondo::again, rondo::ask<read_parcels, parcel_log>>;
  static constexpr auto width = W;
  std::uint32_t is_open = 0;
  std::uint32_t next[parcel_senders][256] = {};
  parcel_log log{};

  RONDO_HD void on(rondo::context& ctx, parcel const& m) {
    if (must_wait(ctx)) return ctx.stash();
    accept(ctx, m.sender, m.value);
  }
  RONDO_HD void on(rondo::context& ctx, rondo::batch<crate> const& crates) {
    if (must_wait(ctx)) return ctx.stash();
    for (auto const& c : crates) accept(ctx, c.sender, c.value);
  }
  RONDO_HD std::uint32_t tiles(rondo::context& ctx, load const&) {
    if (must_wait(ctx)) return ctx.stash(), 0;
    return 3;
  }
  RONDO_HD void tile(rondo::context& ctx, load const& m, std::uint32_t t) {
    if (t == 1 && m.wrong == misplaced::stash) ctx.stash();
    if (t == 1 && m.wrong == misplaced::unstash) ctx.unstash();
  }
  RONDO_HD void finish(rondo::context& ctx, load const& m) { accept(ctx, 0, m.value); }
  RONDO_HD collected on(rondo::context& ctx, collect const& m) {
    if (must_wait(ctx)) return ctx.stash(), collected{};
    accept(ctx, 0, m.value);
    return {m.value};
  }
  RONDO_HD void on(rondo::context& ctx, set_open const& m) {
    if (ctx.team().leader()) is_open = m.is_open;
    if (m.is_open != 0) ctx.unstash();
  }
  RONDO_HD void on(rondo::context& ctx, force const& m) {
    if (!must_wait(ctx)) return accept(ctx, 0, m.value);
    if (ctx.team().leader()) is_open = 1;
    if (m.value % 2 == 0) ctx.unstash();
    ctx.stash();
    if (m.value % 2 != 0) ctx.unstash();
  }
  RONDO_HD void on(rondo::context& ctx, drop_all const&) { ctx.fail(); }
  RONDO_HD void on(rondo::context& ctx, stash_again const&) { ctx.again(); }
  RONDO_HD void on(rondo::context& ctx, rondo::again const&) { ctx.stash(); }
  RONDO_HD parcel_log on(rondo::context&, read_parcels const&) { return log; }

 private:
  RONDO_HD bool must_wait(rondo::context& ctx) {
    if (ctx.team().leader()) ++log.calls;
    return ctx.team().broadcast(is_open == 0);
  }
  RONDO_HD void accept(rondo::context& ctx, std::uint32_t sender, std::uint32_t value) {
    if (!ctx.team().leader()) return;
    auto& due = next[sender % parcel_senders][ctx.header().priority];
    log.disorder += std::uint32_t{value < due};
    due = value + 1;
    if (log.handled < 16) log.values[log.handled] = value;
    ++log.handled;
  }
};
struct porter : porter_of<RONDO_DEFAULT_WIDTH> {};
struct porters_together : porter_of<rondo::width::whole_team> {};

/// Stashes in on_start, where there is nothing to stash.
struct stashes_at_start {
  using messages = rondo::messages<parcel>;
  RONDO_HD void on_start(rondo::context& ctx) { ctx.stash(); }
  RONDO_HD void on(rondo::context&, parcel const&) {}
};

}  // namespace conformance
