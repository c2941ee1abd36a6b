// A stage that draws particles of light, which points leave behind them.
#pragma once

#include "actors/video/overlay/chance.hpp"
#include "actors/video/stages/drawn_items.hpp"

namespace rondo::video {

/// Nothing is kept from tick to tick: where a particle is follows from the tick, from its point, and from the seed.
struct draw_particles : played_items<draw_particles, pixels::dot_shape> {
  using ports = streams::ports<streams::in<"video", image>, streams::in<"points", points>,
                               streams::out<"video", image, "video">>;
  struct options {
    std::uint32_t count = 24, life = 30, seed = 1;
    float radius_px = 5, spread_px = 60, opacity = 0.9F;
    colour_text colour = "#ffd060";
    void describe(auto& option) {
      option("count", count, "particles of a point", 1, 4096);
      option("life", life, "ticks of a particle", 2, 100'000);
      option("radius_px", radius_px, "of a new particle, in pixels", 0.1, 1000);
      option("spread_px", spread_px, "how far it flies, in pixels", 0, 16384);
      option("opacity", opacity, "of a new particle, at its middle", 0.0F, 1.0F);
      option("colour", colour, "red, green and blue, such as #ff8000");
      option("seed", seed, "the same seed draws the same particles", 0, ~0u);
    }
  };
  static void spec(options const& o, streams::spec_of<draw_particles>& s);

  RONDO_HD void take(auto& ctx, streams::tick const& t, image const& on) noexcept {
    auto const in = ctx.template input<"points">();
    points_ = {in.about, in.data};
    tick_ = static_cast<std::uint32_t>(t.number);
    colour_ = ink_of(ctx.options().colour, 1, on);
  }
  RONDO_HD std::uint32_t count() const noexcept { return points_.size(); }
  RONDO_HD std::uint32_t most() const noexcept { return points_.most(); }
  RONDO_HD static std::uint32_t shapes_of_item(options const& o) noexcept { return o.count; }
  RONDO_HD void make(options const& o, std::uint32_t n, pixels::dot_shape* to) const noexcept {
    auto const& p = points_[n];
    for (std::uint32_t i = 0; i < o.count; ++i) {
      to[i] = {};
      if (!is_drawable(p.x) || !is_drawable(p.y)) continue;
      // Each is at another part of its life, and flies elsewhere in the next one.
      auto const ticks = tick_ + chance(o.seed, p.id, i) % o.life;
      auto const age = static_cast<float>(ticks % o.life) / static_cast<float>(o.life), left = 1 - age;
      auto const flight = chance(o.seed, p.id, i, ticks / o.life + 1);
      // A point of a square, drawn out to a circle: no function whose last bits differ from device to device.
      auto const a = 2 * part_of_one(flight) - 1, b = 2 * part_of_one(chance(flight, i)) - 1;
      auto const length = a * a + b * b;
      auto const far = o.spread_px * age / (length > 1 ? pixels::root(length) : 1);
      to[i] = {p.x + a * far, p.y + b * far, o.radius_px * (0.3F + 0.7F * left), o.opacity * left};
    }
  }
  RONDO_HD pixels::ink const& how() const noexcept { return colour_; }
  auto const& kernel(bool is_layer, pixels::tiles_work& work) const noexcept {
    work.colour = colour_;
    return is_layer ? pixels::layer_dots_kernel : pixels::dots_kernel;
  }

 private:
  // Of the picture in hand.
  list_view<point> points_;
  std::uint32_t tick_ = 0;
  pixels::ink colour_;
};

}  // namespace rondo::video
