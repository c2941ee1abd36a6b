// Adapters from a handler's lanes to the `Team` of a stage (actors/video/movement/lanes.hpp), and a helper to run code
// on one lane.
#pragma once

#include "actors/video/movement/lanes.hpp"
#include "kernels/actor/context.hpp"

namespace rondo::video {

/// The `Team` of a stage for a team of several lanes. `Context` is context, or the stage_context of a graph's stage.
template <class Context>
struct context_lanes {
  Context const& ctx;

  struct range {
    lane_range shares;
    struct iterator {
      lane_range::iterator at;
      RONDO_HD std::int32_t operator*() const { return static_cast<std::int32_t>(*at); }
      RONDO_HD iterator& operator++() {
        ++at;
        return *this;
      }
      RONDO_HD bool operator!=(iterator const& other) const { return at != other.at; }
    };
    RONDO_HD iterator begin() const { return {shares.begin()}; }
    RONDO_HD iterator end() const { return {shares.end()}; }
  };

  RONDO_HD range lanes(std::int32_t count) const {
    return {ctx.lanes(static_cast<std::uint32_t>(count > 0 ? count : 0))};
  }
  RONDO_HD std::int32_t lane() const { return static_cast<std::int32_t>(ctx.team().lane()); }
  RONDO_HD std::int32_t lane_count() const { return static_cast<std::int32_t>(ctx.team().lanes()); }
  RONDO_HD void sync() const { ctx.team().sync(); }
};

/// Calls `stage(team)`. A single lane gets a team that compilers see through, so that its loops are vectorised.
template <class Context, class Stage>
RONDO_HD void with_lanes(Context const& ctx, Stage const& stage) {
  if (ctx.team().lanes() == 1)
    stage(one_lane{});
  else
    stage(context_lanes<Context>{ctx});
}

/// Runs `f` on one lane; the others wait for it. Called by all lanes.
template <class Context, class F>
RONDO_HD void by_one(Context const& ctx, F const& f) {
  if (ctx.team().leader()) f();
  ctx.team().sync();
}

}  // namespace rondo::video
