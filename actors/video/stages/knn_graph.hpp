// Links each point with its nearest neighbours (actors/video/overlay/knn_links.hpp), to be drawn by `draw_lines` or
// `draw_curves`.
#pragma once

#include "actors/video/overlay/knn_links.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

/// The links of the last picture are in the stage's scratch memory, so a restart and a checkpoint keep them. Several
/// teams work on the points of a picture.
struct knn_graph {
  using ports = streams::ports<streams::in<"points", points>, streams::out<"edges", edges>>;
  struct options {
    knn_params links{};
    void describe(auto& option) {
      option("k", links.k, "nearest neighbours that a point is linked with", 1, nearest_few::limit);
      option("delta_y_cap", links.delta_y_cap,
             "pixels: longer links upwards or downwards are left out; 0: none", 0, 1e6);
      option("degree_cap", links.degree_cap, "links of a point, the shortest first; 0: any number", 0, 1e6);
      option(
          "hysteresis", links.hysteresis,
          "part of its length by which a link that was there counts as shorter, so that links do not flicker",
          0, 0.9);
    }
  };
  static constexpr std::uint32_t phases = 1, points_of_tile = 128;
  static void spec(options const& o, streams::spec_of<knn_graph>& s);

  RONDO_HD std::uint32_t tiles(streams::stage_context<knn_graph>& ctx, streams::tick const&, std::uint32_t) {
    auto const in = ctx.input<"points">();
    auto const to = ctx.output<"edges">({in.about.most * ctx.options().links.k});
    if (!to) return 0;
    edges_ = {to.about, to.data};
    points_ = {in.about, in.data};
    carver memory(ctx.scratch());
    links_ = {memory, in.about.most, ctx.options().links.k};
    links_.begin(points_);
    return (points_.size() + points_of_tile - 1) / points_of_tile;
  }
  RONDO_HD void tile(streams::stage_context<knn_graph>& ctx, streams::tick const&, std::uint32_t,
                     std::uint32_t number) {
    auto const first = number * points_of_tile, last = first + points_of_tile;
    links_.choose(points_, ctx.options().links, first, last < points_.size() ? last : points_.size());
  }
  RONDO_HD void process(streams::stage_context<knn_graph>& ctx, streams::tick const&) {
    if (edges_) links_.finish(points_, ctx.options().links, edges_);
  }

 private:
  // Of the points in hand.
  list_view<point> points_;
  list_view<edge> edges_;
  knn_links links_;
};

}  // namespace rondo::video
