// Stages that draw edges over a picture: as straight lines, as curves, or as sparks.
#pragma once

#include "actors/video/overlay/chance.hpp"
#include "actors/video/stages/drawn_items.hpp"

namespace rondo::video {

/// How edges look.
struct stroke_options {
  float width_px = 2, opacity = 1;
  colour_text colour = "#ffffff";
  pixels::line_end ends = pixels::end_round;
  float glow_px = 0, glow_opacity = 0.5F;

  void describe(auto& option) {
    option("width_px", width_px, "pixels", 0, 1000);
    option("opacity", opacity, "from 0, which shows nothing, to 1", 0.0F, 1.0F);
    option("colour", colour, "red, green and blue, such as #ff8000");
    option.choice("ends", ends, "of a line: round, cut off where it ends, or half a width behind that",
                  {"round", "butt", "square"});
    option("glow_px", glow_px, "how far light of the same colour reaches beyond its sides; 0: none", 0, 1000);
    option("glow_opacity", glow_opacity, "of that light beside it", 0.0F, 1.0F);
  }
};

/// `Stage::pieces(options)` says of how many straight pieces a stroke is, and make_pieces(options, edge, tick, reach,
/// stroke, pieces) makes them. An edge is one stroke, or two: below it, its glow.
template <class Stage>
struct drawn_edges : played_items<Stage, pixels::segment> {
  using ports = streams::ports<streams::in<"video", image>, streams::in<"edges", edges>,
                               streams::out<"video", image, "video">>;

  RONDO_HD void take(auto& ctx, streams::tick const& t, image const& on) noexcept {
    auto const in = ctx.template input<"edges">();
    edges_ = {in.about, in.data};
    tick_ = static_cast<std::uint32_t>(t.number);
    auto const& o = ctx.options().stroke;
    auto const half = o.width_px / 2;
    strokes_ = strokes(ctx.options());
    // Coverage falls from the middle line to as far as the glow reaches.
    styles_[0] = {ink_of(o.colour, o.glow_opacity, on), (half + o.glow_px) / 2, half + o.glow_px,
                  pixels::end_round, 1};
    styles_[strokes_ - 1] = {ink_of(o.colour, o.opacity, on), half, 1, o.ends, 0};
  }
  RONDO_HD std::uint32_t count() const noexcept { return edges_.size(); }
  RONDO_HD std::uint32_t most() const noexcept { return edges_.most(); }
  RONDO_HD static std::uint32_t shapes_of_item(auto const& o) noexcept {
    return Stage::pieces(o) * strokes(o);
  }
  RONDO_HD void make(auto const& o, std::uint32_t n, pixels::segment* to) const noexcept {
    auto const& e = edges_[n];
    bool const is_good = is_drawable(e.x0) && is_drawable(e.y0) && is_drawable(e.x1) && is_drawable(e.y1);
    auto const pieces = Stage::pieces(o);
    for (std::uint32_t s = 0; s < strokes_; ++s, to += pieces) {
      if (is_good)
        Stage::make_pieces(o, e, tick_, pixels::reach_of(styles_[s]),
                           static_cast<std::int32_t>(n * strokes_ + s), to);
      else
        for (std::uint32_t p = 0; p < pieces; ++p) to[p].stroke = -1;
    }
  }
  RONDO_HD pixels::stroke_styles how() const noexcept {
    return {styles_, static_cast<std::int32_t>(strokes_)};
  }
  RONDO_HD void carve(carver& memory) noexcept { styles_ = memory.take<pixels::stroke_style>(2); }
  auto const& kernel(bool is_layer, pixels::tiles_work& work) const noexcept {
    work.styles = 0;  // carved first
    work.style_count = static_cast<std::int32_t>(strokes_);
    return is_layer ? pixels::layer_strokes_kernel : pixels::strokes_kernel;
  }

 private:
  RONDO_HD static std::uint32_t strokes(auto const& o) noexcept { return o.stroke.glow_px > 0 ? 2 : 1; }

  // Of the picture in hand.
  list_view<edge> edges_;
  std::uint32_t tick_ = 0, strokes_ = 1;
  pixels::stroke_style* styles_ =
      nullptr;  // two, of all edges: of the glow, if there is one, and of the line
};

/// Draws each edge as a straight line.
struct draw_lines : drawn_edges<draw_lines> {
  struct options {
    stroke_options stroke{};
    void describe(auto& option) { stroke.describe(option); }
  };
  static void spec(options const& o, streams::spec_of<draw_lines>& s);

  RONDO_HD static std::uint32_t pieces(options const&) noexcept { return 1; }
  RONDO_HD static void make_pieces(options const&, edge const& e, std::uint32_t, float reach,
                                   std::int32_t stroke, pixels::segment* to) noexcept {
    *to = pixels::segment_between(e.x0, e.y0, e.x1, e.y1, reach, stroke);
  }
};

/// Draws each edge as a quadratic Bezier curve, whose control point lies beside the middle.
struct draw_curves : drawn_edges<draw_curves> {
  struct options {
    stroke_options stroke{};
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

  RONDO_HD static std::uint32_t pieces(options const& o) noexcept { return o.samples - 1; }
  RONDO_HD static void make_pieces(options const& o, edge const& e, std::uint32_t, float reach,
                                   std::int32_t stroke, pixels::segment* to) noexcept {
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

/// Draws each edge as a spark, which jumps from tick to tick.
struct draw_sparks : drawn_edges<draw_sparks> {
  struct options {
    stroke_options stroke{.glow_px = 8};
    float jump = 0.12F;
    std::uint32_t samples = 17, every = 2, seed = 1;
    void describe(auto& option) {
      stroke.describe(option);
      option("jump", jump, "how far its points are from the straight line, at most, in lengths of the edge",
             0, 1);
      option("samples", samples, "points of a spark, between which it is straight", 2, 1024);
      option("every", every, "ticks after which it jumps", 1, 1000);
      option("seed", seed, "the same seed draws the same sparks", 0, ~0u);
    }
  };
  static void spec(options const& o, streams::spec_of<draw_sparks>& s);

  RONDO_HD static std::uint32_t pieces(options const& o) noexcept { return o.samples - 1; }
  RONDO_HD static void make_pieces(options const& o, edge const& e, std::uint32_t tick, float reach,
                                   std::int32_t stroke, pixels::segment* to) noexcept {
    auto const dx = e.x1 - e.x0, dy = e.y1 - e.y0;
    auto const which = chance(o.seed, e.from, e.to, tick / o.every);
    auto before_x = e.x0, before_y = e.y0;
    for (std::uint32_t n = 1; n < o.samples; ++n) {
      auto const t = static_cast<float>(n) / static_cast<float>(o.samples - 1);
      // Nothing at its ends, and most in the middle.
      auto const aside = (2 * part_of_one(chance(which, n)) - 1) * o.jump * 4 * t * (1 - t);
      auto const x = e.x0 + dx * t - dy * aside, y = e.y0 + dy * t + dx * aside;
      to[n - 1] = pixels::segment_between(before_x, before_y, x, y, reach, stroke);
      before_x = x, before_y = y;
    }
  }
};

}  // namespace rondo::video
