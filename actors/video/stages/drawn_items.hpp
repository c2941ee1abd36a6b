// What stages have in common that draw a list of items over a picture, in place.
//
// Several teams work on a picture: first each on some of the items, then each on some of the tiles of the picture that
// an item touches (actors/video/overlay/tile_layer.hpp). All other tiles are neither read nor written.
#pragma once

#include "actors/video/movement/actor_lanes.hpp"
#include "actors/video/overlay/lists.hpp"
#include "actors/video/overlay/tile_layer.hpp"
#include "actors/video/pixels/colours.hpp"
#include "actors/video/pixels/image.hpp"
#include "kernels/streams/option_text.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

/// Red, green and blue, in an option.
using colour_text = streams::option_text<8>;

/// As samples of such pictures.
RONDO_HD inline pixels::ink ink_of(colour_text const& text, float opacity,
                                   colour_description const& of) noexcept {
  rgb c{};
  read_colour(text.text, c);  // `spec` has seen that it is one
  auto const s = samples_of(c, of);
  return {static_cast<float>(s.y), static_cast<float>(s.u), static_cast<float>(s.v), opacity};
}

/// Whether drawing can use a coordinate: a number, and not farther off than any picture.
RONDO_HD inline bool is_drawable(float at) noexcept { return at >= -1e6F && at <= 1e6F; }

/// `Stage` has
///   take(context, tick, colours)    takes what is to be drawn on a picture whose samples mean `colours`, from the
///                                   stage's context: its input and its options
///   count(), most()                 how many items that is, and may be
///   shapes_of_item(options)         how many shapes an item consists of
///   make(options, n, shapes)        the shapes of item n
///   how()                           what all of them have in common (kernels/pixels/draw_shapes.hpp)
template <class Stage, class Shape>
struct drawn_items {
  static constexpr bool cooperative = true;
  static constexpr std::uint32_t phases = 3;

  RONDO_HD std::uint32_t tiles(streams::stage_context<Stage>& ctx, streams::tick const& t,
                               std::uint32_t phase) {
    if (phase == counting && !begin(ctx, t)) return 0;
    auto const& stage = static_cast<Stage const&>(*this);
    by_one(ctx, [&] {
      if (phase == counting) tiles_ = layer_.begin(stage.count(), Stage::shapes_of_item(ctx.options()));
      if (phase == putting) tiles_ = layer_.join();
      if (phase == drawing) tiles_ = (layer_.touched() + tiles_at_once - 1) / tiles_at_once;
    });
    return tiles_;
  }
  RONDO_HD void tile(streams::stage_context<Stage>& ctx, streams::tick const&, std::uint32_t phase,
                     std::uint32_t number) {
    auto const& stage = static_cast<Stage const&>(*this);
    if (phase == drawing) {
      for (auto n = number * tiles_at_once; n < (number + 1) * tiles_at_once && n < layer_.touched(); ++n)
        layer_.draw(ctx.team(), to_, stage.how(), n);
      return;
    }
    by_one(ctx, [&] {
      if (phase == putting) return layer_.put(number);
      layer_.count(number, [&](std::uint32_t n, Shape* shapes) { stage.make(ctx.options(), n, shapes); });
    });
  }
  RONDO_HD void process(streams::stage_context<Stage>&, streams::tick const&) {}

 private:
  enum : std::uint32_t { counting, putting, drawing };
  static constexpr std::uint32_t tiles_at_once = 8;

  RONDO_HD bool begin(streams::stage_context<Stage>& ctx, streams::tick const& t) {
    auto const to = ctx.template edit<"video">();
    if (!to) return false;
    by_one(ctx, [&] {
      auto& stage = static_cast<Stage&>(*this);
      stage.take(ctx, t, to.about.colours);
      auto const p = planes_at(to.about, to.data);
      to_ = {p.of[0].data,   p.of[1].data,   p.of[2].data,   p.of[0].stride,
             p.of[1].stride, to.about.width, to.about.height};
      carver memory(ctx.scratch());
      layer_ = {memory, stage.most() * Stage::shapes_of_item(ctx.options()), to.about.width, to.about.height};
    });
    return true;
  }

  // Of the picture in hand.
  pixels::drawn_planes to_;
  tile_layer<Shape> layer_;
  std::uint32_t tiles_ = 0;
};

}  // namespace rondo::video
