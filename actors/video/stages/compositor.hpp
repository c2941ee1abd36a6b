// Puts up to four layers over a picture, the first one lowest. A layer is a picture with opacities (i420a, rgba_f16),
// or one without, which covers what is below it; it may also be blended with that
// (kernels/pixels/overlay/blend.hpp). The newest picture of each layer is kept, so layers may come at other rates.
#pragma once

#include <string>

#include "actors/video/movement/actor_lanes.hpp"
#include "actors/video/pixels/colours.hpp"
#include "actors/video/pixels/image.hpp"
#include "actors/video/pixels/plane_place.hpp"
#include "actors/video/pixels/rows.hpp"
#include "kernels/pixels/overlay/kernels.hpp"
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
    pixels::blend_mode mode[4] = {};
    void describe(auto& option) {
      option("x1", at[0].x, "where layer1 begins, in pixels from the left; an even number", -16384, 16384);
      option("y1", at[0].y, "where layer1 begins, in pixels from the top; an even number", -16384, 16384);
      option("x2", at[1].x, "the same of layer2", -16384, 16384);
      option("y2", at[1].y, "the same of layer2", -16384, 16384);
      option("x3", at[2].x, "the same of layer3", -16384, 16384);
      option("y3", at[2].y, "the same of layer3", -16384, 16384);
      option("x4", at[3].x, "the same of layer4", -16384, 16384);
      option("y4", at[3].y, "the same of layer4", -16384, 16384);
      choose(option, "mode1", mode[0], "how layer1 is blended with what is below it");
      choose(option, "mode2", mode[1], "the same of layer2");
      choose(option, "mode3", mode[2], "the same of layer3");
      choose(option, "mode4", mode[3], "the same of layer4");
    }

   private:
    static void choose(auto& option, char const* name, pixels::blend_mode& mode, char const* help) {
      option.choice(name, mode, help,
                    {"normal", "multiply", "screen", "overlay", "darken", "lighten", "color-dodge",
                     "color-burn", "hard-light", "soft-light", "difference", "exclusion", "add"});
    }
  };
  static constexpr auto width = rondo::width::whole_team;
  static constexpr std::uint32_t phases = 1;
  static void spec(options const& o, streams::spec_of<compositor>& s);
  static bool takes(image const& about) { return about.is_plain() || about.is_layer(); }

  bool kernels(streams::stage_context<compositor>& ctx, streams::tick const&, std::uint32_t,
               kernel_list& list) {
    if (!begin(ctx)) return false;
    for (std::uint32_t n = 0; n < count_; ++n) add_kernels(layers_[n], list);
    return true;
  }
  RONDO_HD std::uint32_t tiles(streams::stage_context<compositor>& ctx, streams::tick const&, std::uint32_t) {
    if (!begin(ctx) || count_ == 0) return 0;
    return static_cast<std::uint32_t>((picture_.height + rows_of_tile - 1) / rows_of_tile);
  }
  RONDO_HD void tile(streams::stage_context<compositor>& ctx, streams::tick const&, std::uint32_t,
                     std::uint32_t number) {
    rows const row{ctx.team()};
    auto const top = static_cast<std::int32_t>(number) * rows_of_tile;
    for (std::uint32_t n = 0; n < count_; ++n) {
      auto const& l = layers_[n];
      auto const first = pixels::most(top - l.top, 0),
                 last = pixels::least(top + rows_of_tile - l.top, l.to.height);
      for (auto y = first; y < last; y += 2) {
        if (l.is_light)
          row.blend(l.to, l.light, l.how, y);
        else if (l.how.mode != pixels::blend_normal)
          row.blend(l.to, l.from, l.how, y);
        else
          cover(row, ctx, l, y);
      }
      ctx.team().sync();
    }
  }
  RONDO_HD void process(streams::stage_context<compositor>&, streams::tick const&) {}

 private:
  static constexpr std::int32_t rows_of_tile = 64;

  /// Where a layer and the picture overlap.
  struct placed_layer {
    pixels::drawn_planes to, from;
    pixels::layer_planes light;  // instead of `from`, if it is light
    pixels::blending how;
    std::int32_t top;        // of the picture, where `to` begins
    bool is_light;           // rgba_f16
    std::byte* below_bytes;  // of the frames, for players
    std::byte const* layer_bytes;
  };

  /// Rows y and y + 1, as they are.
  RONDO_HD static void cover(rows const& row, streams::stage_context<compositor>& ctx, placed_layer const& l,
                             std::int32_t y) {
    auto const colours = y / 2 * l.to.colour_stride, above = y / 2 * l.from.colour_stride;
    auto const opacities = l.from.opacities != nullptr ? l.from.opacities + y * l.from.stride : nullptr;
    auto const put = [&](u8* to, u8 const* from, i32 r, i32 shrink) {
      auto const width = l.to.width / shrink;
      if (opacities != nullptr)
        return row.layer(to, from, opacities + r * l.from.stride, shrink, l.from.stride, width);
      for (auto const x : ctx.lanes(static_cast<std::uint32_t>(width))) to[x] = from[x];
    };
    for (i32 r = 0; r < 2; ++r) put(l.to.y + (y + r) * l.to.stride, l.from.y + (y + r) * l.from.stride, r, 1);
    put(l.to.u + colours, l.from.u + above, 0, 2);
    put(l.to.v + colours, l.from.v + above, 0, 2);
  }

  static void add_kernels(placed_layer const& l, kernel_list& list) {
    kernel_buffers const buffers{{l.below_bytes, kernel_buffers::read(l.layer_bytes)}};
    auto const below = [&](u8 const* plane, i32 stride) {
      return pixels::plane_place{
          static_cast<pixels::u32>(reinterpret_cast<std::byte const*>(plane) - l.below_bytes), stride};
    };
    auto const above = [&](void const* plane, i32 stride) {
      return pixels::plane_place{
          static_cast<pixels::u32>(static_cast<std::byte const*>(plane) - l.layer_bytes), stride};
    };
    auto const y = below(l.to.y, l.to.stride), u = below(l.to.u, l.to.colour_stride),
               v = below(l.to.v, l.to.colour_stride);
    auto const width = static_cast<std::uint32_t>(l.to.width),
               height = static_cast<std::uint32_t>(l.to.height);
    bool const has_opacities = !l.is_light && l.from.opacities != nullptr;
    if (l.is_light)
      return list.add(
          pixels::blend_half_layer_kernel,
          {y,
           u,
           v,
           {above(l.light.red, l.light.stride), above(l.light.green, l.light.stride),
            above(l.light.blue, l.light.stride), above(l.light.opacities, l.light.stride)},
           1,
           l.to.width,
           l.to.height,
           l.how,
           {above(l.light.marks.of, 0).at, l.light.marks.columns, l.light.marks.left, l.light.marks.top}},
          buffers, height / 2, width / 2);
    pixels::plane_place const from[] = {
        above(l.from.y, l.from.stride), above(l.from.u, l.from.colour_stride),
        above(l.from.v, l.from.colour_stride),
        has_opacities ? above(l.from.opacities, l.from.stride) : pixels::plane_place{}};
    if (l.how.mode != pixels::blend_normal)
      return list.add(
          pixels::blend_layer_kernel,
          {y, u, v, {from[0], from[1], from[2], from[3]}, has_opacities, l.to.width, l.to.height, l.how, {}},
          buffers, height / 2, width / 2);
    pixels::plane_place const to[] = {y, u, v};
    for (int p = 0; p < 3; ++p) {
      std::uint32_t const shrink = p == 0 ? 1 : 2;
      pixels::layer_work const work{to[p], from[p], from[3], static_cast<i32>(shrink),
                                    static_cast<i32>(width / shrink)};
      list.add(has_opacities ? pixels::draw_layer_kernel : pixels::copy_layer_kernel, work, buffers,
               height / shrink, width / shrink);
    }
  }

  RONDO_HD bool begin(streams::stage_context<compositor>& ctx) {
    auto const below = ctx.edit<"video">();
    if (!below) return false;
    by_one(ctx, [&] {
      picture_ = drawn_planes_at(below.about, below.data);
      count_ = 0;
      place(ctx, below, ctx.input<"layer1">(), 0);
      place(ctx, below, ctx.input<"layer2">(), 1);
      place(ctx, below, ctx.input<"layer3">(), 2);
      place(ctx, below, ctx.input<"layer4">(), 3);
    });
    return true;
  }
  RONDO_HD void place(streams::stage_context<compositor>& ctx, streams::frame_out<image> const& below,
                      streams::frame_in<image> const& layer, int number) {
    if (!layer) return;
    auto const at = ctx.options().at[number];
    auto const left = pixels::most(at.x, 0), skipped = left - at.x;
    auto const top = pixels::most(at.y, 0), above_top = top - at.y;
    placed_layer l;
    l.to = drawn_planes_at(below.about, below.data);
    l.to.width = pixels::least(layer.about.width - skipped, l.to.width - left);
    l.to.height = pixels::least(layer.about.height - above_top, l.to.height - top);
    if (l.to.width <= 0 || l.to.height <= 0) return;
    move(l.to, left, top);
    l.is_light = layer.about.is_layer();
    if (l.is_light) {
      l.light = layer_planes_at(layer.about, layer.data);
      auto const by = above_top * l.light.stride + skipped;
      l.light.red += by, l.light.green += by, l.light.blue += by, l.light.opacities += by;
      l.light.marks.left = skipped, l.light.marks.top = above_top;
    } else {
      l.from = drawn_planes_at(layer.about, layer.data);
      move(l.from, skipped, above_top);
    }
    l.how = {ctx.options().mode[number], matrix_of(below.about.colours)};
    l.top = top;
    l.below_bytes = below.data;
    l.layer_bytes = layer.data;
    layers_[count_++] = l;
  }
  RONDO_HD static void move(pixels::drawn_planes& p, std::int32_t x, std::int32_t y) {
    auto const colours = y / 2 * p.colour_stride + x / 2;
    p.y += y * p.stride + x;
    p.u += colours, p.v += colours;
    if (p.opacities != nullptr) p.opacities += y * p.stride + x;
  }

  // Of the picture in hand.
  pixels::drawn_planes picture_;
  placed_layer layers_[4];  // the lowest first
  std::uint32_t count_ = 0;
};

}  // namespace rondo::video
