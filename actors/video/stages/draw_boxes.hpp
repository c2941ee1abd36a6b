// A stage that draws boxes over a picture: filled, with a stroke, and with rounded corners.
#pragma once

#include "actors/video/stages/drawn_items.hpp"

namespace rondo::video {

struct draw_boxes : played_items<draw_boxes, pixels::box_shape> {
  using ports = streams::ports<streams::in<"video", image>, streams::in<"boxes", boxes>,
                               streams::out<"video", image, "video">>;
  struct options {
    float stroke_px = 2, fill_opacity = 0.2F, opacity = 1, roundness = 0.2F;
    colour_text colour = "#ffffff", fill = "";
    void describe(auto& option) {
      option("stroke_px", stroke_px, "pixels that the stroke is wide; its middle is the edge", 0, 1000);
      option("opacity", opacity, "of the stroke: from 0, which shows nothing, to 1", 0.0F, 1.0F);
      option("fill_opacity", fill_opacity, "of the inside", 0.0F, 1.0F);
      option("roundness", roundness, "radius of the corners, as a part of the shorter side's half", 0.0F,
             1.0F);
      option("colour", colour, "of the stroke: red, green and blue, such as #ff8000");
      option("fill", fill, "likewise, of the inside; empty: as the stroke");
    }
  };
  static void spec(options const& o, streams::spec_of<draw_boxes>& s);

  RONDO_HD void take(auto& ctx, streams::tick const&, image const& on) noexcept {
    auto const in = ctx.template input<"boxes">();
    boxes_ = {in.about, in.data};
    auto const& o = ctx.options();
    stroke_ = ink_of(o.colour, o.opacity, on);
    fill_ = ink_of(o.fill.text[0] == 0 ? o.colour : o.fill, o.fill_opacity, on);
  }
  RONDO_HD std::uint32_t count() const noexcept { return boxes_.size(); }
  RONDO_HD std::uint32_t most() const noexcept { return boxes_.most(); }
  RONDO_HD static std::uint32_t shapes_of_item(options const&) noexcept { return 1; }
  RONDO_HD void make(options const& o, std::uint32_t n, pixels::box_shape* to) const noexcept {
    auto const& b = boxes_[n];
    bool const is_box = is_drawable(b.x) && is_drawable(b.y) && is_drawable(b.width) && is_drawable(b.height);
    auto const half_width = is_box ? b.width / 2 : -1, half_height = is_box ? b.height / 2 : -1;
    auto const shorter = half_width < half_height ? half_width : half_height;
    *to = {b.x + half_width,      b.y + half_height, half_width, half_height,
           o.roundness * shorter, o.stroke_px / 2,   fill_,      stroke_};
  }
  RONDO_HD static pixels::no_more how() noexcept { return {}; }
  auto const& kernel(bool is_layer, pixels::tiles_work&) const noexcept {
    return is_layer ? pixels::layer_boxes_kernel : pixels::boxes_kernel;
  }

 private:
  list_view<box> boxes_;
  pixels::ink stroke_, fill_;  // of all of them
};

}  // namespace rondo::video
