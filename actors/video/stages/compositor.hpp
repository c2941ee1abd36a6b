// Puts up to four layers over a picture, the first one lowest. A layer is a picture with opacities (i420a), or one
// without, which covers what is below it. It keeps the newest picture of each layer, so layers may come at other rates.
#pragma once

#include <string>

#include "actors/video/pixels/image.hpp"
#include "actors/video/pixels/plane_place.hpp"
#include "actors/video/pixels/rows.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct compositor {
  using ports = streams::ports<streams::in<"video", image>, streams::optional_in<"layer1", image>,
                               streams::optional_in<"layer2", image>, streams::optional_in<"layer3", image>,
                               streams::optional_in<"layer4", image>, streams::out<"video", image, "video">>;
  /// Where a layer's upper left corner is. Even numbers; parts outside the picture are not drawn.
  struct position {
    std::int32_t x = 0, y = 0;
  };
  struct options {
    position at[4] = {};
    void describe(auto& option) {
      option("x1", at[0].x, "where layer1 begins, in pixels from the left; an even number", -16384, 16384);
      option("y1", at[0].y, "where layer1 begins, in pixels from the top; an even number", -16384, 16384);
      option("x2", at[1].x, "the same of layer2", -16384, 16384);
      option("y2", at[1].y, "the same of layer2", -16384, 16384);
      option("x3", at[2].x, "the same of layer3", -16384, 16384);
      option("y3", at[2].y, "the same of layer3", -16384, 16384);
      option("x4", at[3].x, "the same of layer4", -16384, 16384);
      option("y4", at[3].y, "the same of layer4", -16384, 16384);
    }
  };
  static constexpr bool cooperative = true;
  static void spec(options const& o, streams::spec_of<compositor>& s);

  void kernels(streams::stage_context<compositor>& ctx, streams::tick const&, kernel_list& list) {
    auto const below = ctx.edit<"video">();
    if (!below) return;
    each_part(ctx, below, [&](streams::frame_in<image> const& layer, part const& p) {
      pixels::layer_work const work{
          place_of(p.to, below.data), place_of(p.from, layer.data),
          p.opacities.data != nullptr ? place_of(p.opacities, layer.data) : pixels::plane_place{}, p.shrink,
          p.to.width};
      kernel_buffers const buffers{{below.data, kernel_buffers::read(layer.data)}};
      list.add(p.opacities.data != nullptr ? pixels::draw_layer_kernel : pixels::copy_layer_kernel, work,
               buffers, static_cast<std::uint32_t>(p.to.height), static_cast<std::uint32_t>(p.to.width));
    });
  }
  RONDO_HD void process(streams::stage_context<compositor>& ctx, streams::tick const&) {
    auto const below = ctx.edit<"video">();
    if (!below) return;
    rows const row{ctx.team()};
    each_part(ctx, below, [&](streams::frame_in<image> const&, part const& p) {
      for (std::int32_t y = 0; y < p.to.height; ++y)
        if (p.opacities.data != nullptr)
          row.layer(p.to.row(y), p.from.row(y), p.opacities.row(p.shrink * y), p.shrink, p.to.width);
        else
          for (auto const x : ctx.lanes(static_cast<std::uint32_t>(p.to.width)))
            p.to.row(y)[x] = p.from.row(y)[x];
      ctx.team().sync();
    });
  }

 private:
  /// What a plane of a layer covers of the picture: both are as wide and high as `to`.
  struct part {
    image_view<std::uint8_t> to, from, opacities;  // opacities: no data if it has none
    std::int32_t shrink;                           // pixels in each direction for a sample
  };
  /// Calls f(layer, part) for each, the lowest layer first.
  RONDO_EITHER_SIDE
  template <class F>
  RONDO_HD static void each_part(streams::stage_context<compositor>& ctx,
                                 streams::frame_out<image> const& below, F const& f) {
    auto const picture = planes_at(below.about, below.data);
    each_part(ctx, picture, ctx.input<"layer1">(), 0, f);
    each_part(ctx, picture, ctx.input<"layer2">(), 1, f);
    each_part(ctx, picture, ctx.input<"layer3">(), 2, f);
    each_part(ctx, picture, ctx.input<"layer4">(), 3, f);
  }
  RONDO_EITHER_SIDE
  template <class F>
  RONDO_HD static void each_part(streams::stage_context<compositor>& ctx, planes const& below,
                                 streams::frame_in<image> const& layer, int number, F const& f) {
    if (!layer) return;
    auto const above = planes_at(layer.about, layer.data);
    auto const at = ctx.options().at[number];
    for (int p = 0; p < 3; ++p) {
      std::int32_t const half = p == 0 ? 1 : 2;
      auto to = below.of[p], from = above.of[p];
      std::int32_t const left = pixels::most(at.x / half, 0), skipped = left - at.x / half;
      std::int32_t const top = pixels::most(at.y / half, 0), above_top = top - at.y / half;
      to.width = pixels::least(from.width - skipped, to.width - left);
      to.height = pixels::least(from.height - above_top, to.height - top);
      if (to.width <= 0 || to.height <= 0) continue;
      to.data = to.row(top) + left;
      from.data = from.row(above_top) + skipped;
      image_view<std::uint8_t> opacities{};
      if (layer.about.format == pixel_format::i420a) {
        opacities = above.of[3];
        opacities.data = opacities.row(half * above_top) + half * skipped;
      }
      f(layer, part{to, from, opacities, half});
    }
  }
};

}  // namespace rondo::video
