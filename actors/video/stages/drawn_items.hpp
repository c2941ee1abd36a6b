// What stages have in common that draw a list of items over a picture, in place.
//
// Several teams work on a picture: first each on some of the items, then each on some of the tiles of the picture that
// an item touches (actors/video/overlay/tile_layer.hpp). All other tiles are neither read nor written.
#pragma once

#include <algorithm>

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
RONDO_HD inline pixels::ink ink_of(colour_text const& text, float opacity, image const& on) noexcept {
  rgb c{};
  read_colour(text.text, c);  // `spec` has seen that it is one
  if (on.is_layer())
    return {static_cast<float>(c.r) / 255, static_cast<float>(c.g) / 255, static_cast<float>(c.b) / 255,
            opacity};
  auto const s = samples_of(c, on.colours);
  return {static_cast<float>(s.y), static_cast<float>(s.u), static_cast<float>(s.v), opacity};
}

/// Whether drawing can use a coordinate: a number, and not farther off than any picture.
RONDO_HD inline bool is_drawable(float at) noexcept { return at >= -1e6F && at <= 1e6F; }

/// `Stage` has
///   take(context, tick, image)      takes what is to be drawn on such a picture, from the stage's context: its input
///                                   and its options
///   count(), most()                 how many items that is, and may be
///   shapes_of_item(options)         how many shapes an item consists of
///   make(options, n, shapes)        the shapes of item n
///   carve(memory)                   perhaps: takes memory that the device of its pictures can read
///   how()                           what all of them have in common (kernels/pixels/overlay/draw_shapes.hpp)
template <class Stage, class Shape>
struct drawn_items {
  static constexpr auto width = rondo::width::whole_team;
  static constexpr std::uint32_t phases = 3;
  static bool takes(image const& about) { return about.is_plain() || about.is_layer(); }

  RONDO_HD std::uint32_t tiles(streams::stage_context<Stage>& ctx, streams::tick const& t,
                               std::uint32_t phase) {
    if (phase == counting && !begin(ctx, t)) return 0;
    auto const& stage = static_cast<Stage const&>(*this);
    by_one(ctx, [&] {
      if (phase == counting) tiles_ = tiles_of_.begin(stage.count(), Stage::shapes_of_item(ctx.options()));
      if (phase == putting) tiles_ = tiles_of_.join();
      if (phase == drawing) tiles_ = (tiles_of_.touched() + tiles_at_once - 1) / tiles_at_once;
    });
    return tiles_;
  }
  RONDO_HD void tile(streams::stage_context<Stage>& ctx, streams::tick const&, std::uint32_t phase,
                     std::uint32_t number) {
    auto const& stage = static_cast<Stage const&>(*this);
    if (phase == drawing) {
      auto const first = number * tiles_at_once, left = tiles_of_.touched() - first;
      auto const end = first + (left < tiles_at_once ? left : tiles_at_once);
      for (auto n = first; n < end; ++n)
        if (is_layer_)
          tiles_of_.draw(ctx.team(), layer_, stage.how(), n);
        else
          tiles_of_.draw(ctx.team(), picture_, stage.how(), n);
      if (!is_layer_) return;
      ctx.team().sync();
      return by_one(ctx, [&] {
        for (auto n = first; n < end; ++n) tiles_of_.mark(layer_, n);
      });
    }
    by_one(ctx, [&] {
      if (phase == putting) return tiles_of_.put(number);
      tiles_of_.count(number, [&](std::uint32_t n, Shape* shapes) { stage.make(ctx.options(), n, shapes); });
    });
  }
  RONDO_HD void process(streams::stage_context<Stage>&, streams::tick const&) {}
  RONDO_HD void carve(carver&) noexcept {}

 protected:
  enum : std::uint32_t { counting, putting, drawing };

  // Of the picture in hand.
  std::byte* data_;
  pixels::drawn_planes picture_;
  pixels::layer_planes layer_;  // if it is one
  bool is_layer_ = false;
  tile_layer<Shape> tiles_of_;

 private:
  static constexpr std::uint32_t tiles_at_once = 8;

  RONDO_HD bool begin(streams::stage_context<Stage>& ctx, streams::tick const& t) {
    auto const to = ctx.template edit<"video">();
    if (!to) return false;
    by_one(ctx, [&] {
      auto& stage = static_cast<Stage&>(*this);
      carver memory(ctx.scratch());
      stage.carve(memory);
      stage.take(ctx, t, to.about);
      data_ = to.data;
      is_layer_ = to.about.is_layer();
      if (is_layer_)
        layer_ = layer_planes_at(to.about, to.data);
      else
        picture_ = drawn_planes_at(to.about, to.data);
      tiles_of_ = {memory, stage.most() * Stage::shapes_of_item(ctx.options()), to.about.width,
                   to.about.height};
    });
    return true;
  }

  std::uint32_t tiles_ = 0;  // of the phase in hand
};

/// The same where drawing may be played, by the kernel that `Stage::kernel(is_layer, work)` names, for which it
/// completes the work. What comes before drawing is little work.
template <class Stage, class Shape>
struct played_items : drawn_items<Stage, Shape> {
  bool kernels(streams::stage_context<Stage>& ctx, streams::tick const&, std::uint32_t phase,
               kernel_list& list) {
    if (phase != this->drawing || this->tiles_of_.touched() == 0) return false;
    pixels::tiles_work work{};
    auto const at = [&](auto const* plane, std::int32_t stride) {
      return pixels::plane_place{
          static_cast<pixels::u32>(reinterpret_cast<std::byte const*>(plane) - this->data_), stride};
    };
    auto const& p = this->picture_;
    auto const& l = this->layer_;
    if (this->is_layer_) {
      pixels::plane_place const planes[] = {at(l.red, l.stride), at(l.green, l.stride), at(l.blue, l.stride),
                                            at(l.opacities, l.stride)};
      std::copy(planes, planes + 4, work.planes);
      work.width = l.width, work.height = l.height;
      work.marks = at(l.marks.of, 0).at;
    } else {
      pixels::plane_place const planes[] = {at(p.y, p.stride), at(p.u, p.colour_stride),
                                            at(p.v, p.colour_stride)};
      std::copy(planes, planes + 3, work.planes);
      work.has_opacities = p.opacities != nullptr;
      if (work.has_opacities != 0) work.planes[3] = at(p.opacities, p.stride);
      work.width = p.width, work.height = p.height;
    }
    this->tiles_of_.say_where(ctx.scratch(), work);
    constexpr std::uint32_t pairs = pixels::tile_side / 2;
    auto const& kernel = static_cast<Stage const&>(*this).kernel(this->is_layer_, work);
    kernel_buffers const buffers{{this->data_, ctx.scratch()}};
    list.add(kernel, work, buffers, this->tiles_of_.touched() * pairs, pairs);
    if (this->is_layer_) list.add(pixels::mark_tiles_kernel, work, buffers, this->tiles_of_.touched(), 1);
    return true;
  }
};

}  // namespace rondo::video
