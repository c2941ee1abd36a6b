// Puts up to four layers over a picture, the first one lowest. A layer is a picture with opacities (i420a), or one
// without, which covers what is below it. It keeps the newest picture of each layer, so layers may come at other rates.
#pragma once

#include <string>

#include "actors/video/pixels/image.hpp"
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

  RONDO_HD void process(streams::stage_context<compositor>& ctx, streams::tick const&) {
    auto const below = ctx.edit<"video">();
    if (!below) return;
    auto const picture = planes_at(below.about, below.data);
    put(ctx, picture, ctx.input<"layer1">(), 0);
    put(ctx, picture, ctx.input<"layer2">(), 1);
    put(ctx, picture, ctx.input<"layer3">(), 2);
    put(ctx, picture, ctx.input<"layer4">(), 3);
  }

 private:
  RONDO_HD static void put(streams::stage_context<compositor>& ctx, planes const& below,
                           streams::frame_in<image> const& layer, int number) {
    if (!layer) return;
    auto const above = planes_at(layer.about, layer.data);
    auto const at = ctx.options().at[number];
    rows const row{ctx.team()};
    for (int p = 0; p < 3; ++p) {
      std::int32_t const half = p == 0 ? 1 : 2;
      auto const &to = below.of[p], &from = above.of[p];
      std::int32_t const left = pixels::most(at.x / half, 0), skipped = left - at.x / half;
      std::int32_t const width = pixels::least(from.width - skipped, to.width - left);
      for (std::int32_t y = pixels::most(-at.y / half, 0);
           width > 0 && y < from.height && y + at.y / half < to.height; ++y) {
        u8* const target = to.row(y + at.y / half) + left;
        u8 const* const source = from.row(y) + skipped;
        if (layer.about.format == pixel_format::i420a)
          row.layer(target, source, above.of[3].row(half * y) + half * skipped, half, width);
        else
          for (auto const x : ctx.lanes(static_cast<std::uint32_t>(width))) target[x] = source[x];
      }
    }
    ctx.team().sync();
  }
};

}  // namespace rondo::video
