// Stages that draw edges over a picture: as straight lines, or as curves.
#pragma once

#include "actors/video/overlay/whole_tiles.hpp"
#include "actors/video/stages/drawn_items.hpp"

namespace rondo::video {

/// How edges look.
struct stroke_options {
  float width_px = 2, opacity = 1;
  colour_text colour = "#ffffff";
  pixels::line_end ends = pixels::end_round;

  void describe(auto& option) {
    option("width_px", width_px, "pixels", 0, 1000);
    option("opacity", opacity, "from 0, which shows nothing, to 1", 0.0F, 1.0F);
    option("colour", colour, "red, green and blue, such as #ff8000");
    option.choice("ends", ends, "of a line: round, cut off where it ends, or half a width behind that",
                  {"round", "butt", "square"});
  }
};

/// `Stage::shapes_of_item(options)` says of how many straight pieces an edge is drawn, and make_pieces(options, edge,
/// reach, n, pieces) makes them.
template <class Stage>
struct drawn_edges : drawn_items<Stage, pixels::segment> {
  using ports = streams::ports<streams::in<"video", image>, streams::in<"edges", edges>,
                               streams::out<"video", image, "video">>;

  RONDO_HD void take(streams::stage_context<Stage>& ctx, colour_description const& of) noexcept {
    auto const in = ctx.template input<"edges">();
    edges_ = {in.about, in.data};
    auto const& o = ctx.options().stroke;
    style_ = {ink_of(o.colour, o.opacity, of), o.width_px / 2, 1, o.ends, 0};
  }
  RONDO_HD std::uint32_t count() const noexcept { return edges_.size(); }
  RONDO_HD std::uint32_t most() const noexcept { return edges_.most(); }
  RONDO_HD void make(auto const& o, std::uint32_t n, pixels::segment* to) const noexcept {
    auto const& e = edges_[n];
    if (is_drawable(e.x0) && is_drawable(e.y0) && is_drawable(e.x1) && is_drawable(e.y1))
      return Stage::make_pieces(o, e, pixels::reach_of(style_), static_cast<std::int32_t>(n), to);
    for (std::uint32_t p = 0; p < Stage::shapes_of_item(o); ++p) to[p].stroke = -1;
  }
  RONDO_HD void draw(team const& t, pixels::drawn_planes const& to,
                     pixels::shape_list<pixels::segment> const& list, std::int32_t x, std::int32_t y) const {
    draw_tile(
        t, to, x, y,
        [&] {
          whole_tiles::strokes(to, list, {&style_, 0}, x, y);
        },
        [&](std::int32_t column, std::int32_t row) {
          pixels::draw_strokes<2, 1>(to, list, {&style_, 0}, column, row);
        });
  }

 private:
  list_view<edge> edges_;
  pixels::stroke_style style_;  // of all of them
};

/// Draws each edge as a straight line.
struct draw_lines : drawn_edges<draw_lines> {
  struct options {
    stroke_options stroke;
    void describe(auto& option) { stroke.describe(option); }
  };
  static void spec(options const& o, streams::spec_of<draw_lines>& s);

  RONDO_HD static std::uint32_t shapes_of_item(options const&) noexcept { return 1; }
  RONDO_HD static void make_pieces(options const&, edge const& e, float reach, std::int32_t stroke,
                                   pixels::segment* to) noexcept {
    *to = pixels::segment_between(e.x0, e.y0, e.x1, e.y1, reach, stroke);
  }
};

/// Draws each edge as a quadratic Bezier curve, whose control point lies beside the middle.
struct draw_curves : drawn_edges<draw_curves> {
  struct options {
    stroke_options stroke;
    float curvature = 0.3F;
    std::uint32_t samples = 24;
    void describe(auto& option) {
      stroke.describe(option);
      option("curvature", curvature, "how far the control point is from the middle, in lengths of the edge",
             -10, 10);
      option("samples", samples, "points of a curve, between which it is straight", 2, 1024);
    }
  };
  static void spec(options const& o, streams::spec_of<draw_curves>& s);

  RONDO_HD static std::uint32_t shapes_of_item(options const& o) noexcept { return o.samples - 1; }
  RONDO_HD static void make_pieces(options const& o, edge const& e, float reach, std::int32_t stroke,
                                   pixels::segment* to) noexcept {
    // Along the normal, which is as long as the edge: so an edge without length is a dot.
    auto const x = (e.x0 + e.x1) / 2 - (e.y1 - e.y0) * o.curvature,
               y = (e.y0 + e.y1) / 2 + (e.x1 - e.x0) * o.curvature;
    auto before_x = e.x0, before_y = e.y0;
    for (std::uint32_t n = 1; n < o.samples; ++n) {
      auto const t = static_cast<float>(n) / static_cast<float>(o.samples - 1), u = 1 - t;
      auto const at_x = u * u * e.x0 + 2 * u * t * x + t * t * e.x1,
                 at_y = u * u * e.y0 + 2 * u * t * y + t * t * e.y1;
      to[n - 1] = pixels::segment_between(before_x, before_y, at_x, at_y, reach, stroke);
      before_x = at_x, before_y = at_y;
    }
  }
};

}  // namespace rondo::video
