// Stages that find what moves in the pictures of a fixed camera, and draw it (actors/video/movement/pipeline.hpp): two,
// so that one picture is drawn on while the next is looked at.
#pragma once

#include <string>

#include "actors/video/movement/actor_lanes.hpp"
#include "actors/video/movement/pipeline.hpp"
#include "actors/video/overlay/lists.hpp"
#include "actors/video/pixels/image.hpp"
#include "actors/video/pixels/plane_place.hpp"
#include "kernels/streams/option_text.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

/// The frames that say what is to be drawn on a picture: a draw_list.
struct drawing {
  std::int32_t width = 0, height = 0;  // of the picture

  RONDO_HD std::uint64_t bytes() const noexcept { return sizeof(draw_list); }
};

RONDO_HD inline frame_view frame_of(image const& about, std::byte const* data) {
  auto const p = planes_at(about, data);
  return {p.of[0], p.of[1], p.of[2]};
}

/// Learns the background, and follows what moves in front of it. Pictures are passed on as they are, with a drawing for
/// each, and what is followed as boxes, and as points in their middles. The scene is in the stage's scratch memory, so
/// a restart keeps it. Several teams work on a picture, each on some of its rows.
struct find_movement {
  using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image, "video">,
                               streams::out<"drawing", drawing>, streams::optional_out<"points", points>,
                               streams::optional_out<"boxes", boxes>>;
  struct options {
    streams::option_text<32> name;  // drawn into the upper left corner
    double rate = 0;                // likewise, in frames per second; 0: not
    std::int32_t tiles = 4;         // parts of a picture, at most one for 16 rows
    void describe(auto& option) {
      option("name", name, "drawn into the upper left corner");
      option("rate", rate, "frames per second, drawn beside it; 0: not drawn", 0, 10000);
      option("tiles", tiles, "parts of a picture, on which as many teams may work at once", 1, 1024);
    }
  };
  static constexpr auto width = rondo::width::whole_team;
  static constexpr std::uint32_t phases = 2;
  static void spec(options const& o, streams::spec_of<find_movement>& s);

  /// So many tiles have pictures of this height.
  RONDO_HD static std::int32_t tiles_of(options const& o, std::int32_t height) {
    std::int32_t const most = height / 16 + 1;
    return o.tiles < most ? o.tiles : most;
  }

  /// The comparison with the background; the rest is on words of bits, and in a sequence.
  bool kernels(streams::stage_context<find_movement>& ctx, streams::tick const&, std::uint32_t phase,
               kernel_list& list) {
    if (phase != looking || !begin(ctx)) return false;
    auto const in = ctx.input<"video">();
    auto const* const memory = ctx.scratch();
    auto const& model = scene_.background;
    auto const at = [&](void const* of) {
      return static_cast<pixels::u32>(static_cast<std::byte const*>(of) - memory);
    };
    pixels::background_work const work{place_of(frame_.y, in.data),
                                       place_of(frame_.u, in.data),
                                       place_of(frame_.v, in.data),
                                       place_of(scene_.mask, memory),
                                       at(model.mean_y),
                                       at(model.mean_u) - at(model.mean_y),
                                       model.stride,
                                       model.width,
                                       limits_of(movement_params{}.background)};
    list.add(
        scene_.scene->relearn != 0 ? pixels::learn_background_kernel : pixels::subtract_background_kernel,
        work, {{ctx.scratch(), kernel_buffers::read(in.data)}}, static_cast<std::uint32_t>(model.height),
        static_cast<std::uint32_t>(model.width));
    return true;
  }
  RONDO_HD std::uint32_t tiles(streams::stage_context<find_movement>& ctx, streams::tick const&,
                               std::uint32_t phase) {
    if (phase == looking && !begin(ctx)) return 0;
    return static_cast<std::uint32_t>(scene_.tiles);
  }
  RONDO_HD void tile(streams::stage_context<find_movement>& ctx, streams::tick const&, std::uint32_t phase,
                     std::uint32_t number) {
    movement_params const params{};
    auto const tile = static_cast<std::int32_t>(number);
    with_lanes(ctx, [&](auto const& team) {
      if (phase == looking)
        detect_tile(team, scene_, params, frame_, tile);
      else
        label_tile(team, scene_, params, tile, ctx.team().leader());
    });
  }
  RONDO_HD void process(streams::stage_context<find_movement>& ctx, streams::tick const& t) {
    auto const colours = ctx.input<"video">().about.colours;
    auto const followed = ctx.output<"points">({tracker_state::capacity});
    auto const around = ctx.output<"boxes">({tracker_state::capacity});
    by_one(ctx, [&] {
      finish_frame(scene_, movement_params{}, frame_, status_for(ctx.options()), colours);
      *drawing_ = scene_.scene->drawing;
      // Of the video's own time, if it has one.
      auto const lasts_ns = t.origin.lasts_ns != 0 ? t.origin.lasts_ns : t.since_ns;
      if (followed && around)
        list_tracks({followed.about, followed.data}, {around.about, around.data},
                    lasts_ns != 0 ? 1e9F / static_cast<float>(lasts_ns) : 0);
    });
  }

 private:
  RONDO_HD void list_tracks(list_view<point> to, list_view<box> around, float pictures_per_s) const {
    to.clear(), around.clear();
    auto const pixels = [](std::int32_t sixteenths) { return static_cast<float>(sixteenths) / 16; };
    auto const& tracks = scene_.scene->tracks;
    for (std::int32_t i = 0; i < tracks.count; ++i) {
      track const& t = tracks.items[i];
      if (!visible(movement_params{}.tracker, t)) continue;
      auto const id = static_cast<std::uint32_t>(t.id);
      to.add({id, pixels(t.box.x0 + t.box.x1) / 2, pixels(t.box.y0 + t.box.y1) / 2,
              pixels(t.vx) / 16 * pictures_per_s, pixels(t.vy) / 16 * pictures_per_s});
      around.add(
          {id, pixels(t.box.x0), pixels(t.box.y0), pixels(t.box.x1 - t.box.x0), pixels(t.box.y1 - t.box.y0)});
    }
  }

  static constexpr std::uint32_t looking = 0;  // the first phase; the second one labels what was seen

  RONDO_HD bool begin(streams::stage_context<find_movement>& ctx) {
    auto const in = ctx.input<"video">();
    auto const to = ctx.output<"drawing">({in.about.width, in.about.height});
    if (!to) return false;
    ctx.pass<"video">();
    by_one(ctx, [&] {
      carver memory(ctx.scratch());
      scene_ = carve_movement(memory, in.about.width, in.about.height,
                              tiles_of(ctx.options(), in.about.height), movement_params{});
      if (scene_.scene->tracks.frame_width == 0) reset_movement(scene_);  // the memory was zero
      frame_ = frame_of(in.about, in.data);
      drawing_ = reinterpret_cast<draw_list*>(to.data);
    });
    return true;
  }
  RONDO_HD static status_line status_for(options const& o) {
    status_line line{};
    static_assert(sizeof line.camera == sizeof o.name.text);
    __builtin_memcpy(line.camera, o.name.text, sizeof line.camera);
    line.frames_per_s_x10 = static_cast<std::int32_t>(o.rate * 10 + 0.5);
    return line;
  }

  // Of the picture in hand.
  movement_ref scene_;
  frame_view frame_;
  draw_list* drawing_;
};

/// Draws on a picture, in place. The letters are made with the first picture, in the stage's scratch memory.
struct draw_movement {
  using ports = streams::ports<streams::in<"video", image>, streams::in<"drawing", drawing>,
                               streams::out<"video", image, "video">>;
  struct options {};
  static constexpr auto width = rondo::width::whole_team;
  static void spec(options const& o, streams::spec_of<draw_movement>& s);

  void kernels(streams::stage_context<draw_movement>& ctx, streams::tick const&, kernel_list& list) {
    auto const shapes = ctx.input<"drawing">();
    auto const to = ctx.edit<"video">();
    if (!to) return;
    auto const frame = frame_of(to.about, to.data);
    provide_letters(one_lane{}, book(ctx), drawing_letters(to.about.height));
    list.add(pixels::draw_shapes_kernel,
             {place_of(frame.y, to.data), place_of(frame.u, to.data), place_of(frame.v, to.data),
              frame.y.width, frame.y.height},
             {{to.data, kernel_buffers::read(shapes.data), kernel_buffers::read(ctx.scratch())}},
             static_cast<std::uint32_t>(frame.u.height), static_cast<std::uint32_t>(frame.u.width));
  }
  RONDO_HD void process(streams::stage_context<draw_movement>& ctx, streams::tick const&) {
    auto const list = ctx.input<"drawing">();
    auto const to = ctx.edit<"video">();
    if (!to) return;
    with_lanes(ctx, [&](auto const& team) {
      provide_letters(team, book(ctx), drawing_letters(to.about.height));
      draw_tile(team, frame_of(to.about, to.data), *reinterpret_cast<draw_list const*>(list.data), book(ctx),
                {0, to.about.height});
    });
    ctx.team().sync();
  }

 private:
  RONDO_HD static pixels::letter_book& book(streams::stage_context<draw_movement>& ctx) {
    return *reinterpret_cast<pixels::letter_book*>(ctx.scratch());
  }
};

}  // namespace rondo::video
