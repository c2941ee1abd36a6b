// Stages that find what moves in the pictures of a fixed camera, and draw it: the overlay
// (actors/video/movement/pipeline.hpp) as two stages, so that one picture is drawn on while the next is looked at.
#pragma once

#include <string>

#include "actors/video/movement/actor_lanes.hpp"
#include "actors/video/movement/pipeline.hpp"
#include "actors/video/pixels/image.hpp"
#include "kernels/streams/option_text.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

/// The frames that say what is to be drawn on a picture: an draw_list.
struct drawing {
  std::int32_t width = 0, height = 0;  // of the picture

  RONDO_HD std::uint64_t bytes() const noexcept { return sizeof(draw_list); }
};

RONDO_HD inline frame_view frame_of(image const& about, std::byte const* data) {
  auto const p = planes_at(about, data);
  return {p.of[0], p.of[1], p.of[2]};
}

/// Learns the background, and follows what moves in front of it. Pictures are passed on as they are, with a drawing for
/// each. The scene is in the stage's scratch memory, so a restart keeps it.
struct find_movement {
  using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image, "video">,
                               streams::out<"drawing", drawing>>;
  struct options {
    streams::option_text<32> name;  // drawn into the upper left corner
    double rate = 0;                // likewise, in frames per second; 0: not
    void describe(auto& option) {
      option("name", name, "drawn into the upper left corner");
      option("rate", rate, "frames per second, drawn beside it; 0: not drawn", 0, 10000);
    }
  };
  static constexpr bool cooperative = true;
  static void spec(options const& o, streams::spec_of<find_movement>& s);

  RONDO_HD void process(streams::stage_context<find_movement>& ctx, streams::tick const&) {
    auto const in = ctx.input<"video">();
    auto const to = ctx.output<"drawing">({in.about.width, in.about.height});
    if (!to) return;
    ctx.pass<"video">();
    overlay_params const params{};
    carver memory(ctx.scratch());
    auto const scene = carve_overlay(memory, in.about.width, in.about.height, 1, params);
    auto const frame = frame_of(in.about, in.data);
    by_one(ctx, [&] {
      if (scene.scene->tracks.frame_width == 0) reset_overlay(scene);  // the memory was zero
    });
    with_lanes(ctx, [&](auto const& team) { detect_tile(team, scene, params, frame, 0); });
    ctx.team().sync();
    with_lanes(ctx, [&](auto const& team) { label_tile(team, scene, params, 0, ctx.team().leader()); });
    ctx.team().sync();
    by_one(ctx, [&] {
      finish_frame(scene, params, frame, status_for(ctx.options()), in.about.colours);
      *reinterpret_cast<draw_list*>(to.data) = scene.scene->drawing;
    });
  }

 private:
  RONDO_HD static status_line status_for(options const& o) {
    status_line line{};
    static_assert(sizeof line.camera == sizeof o.name.text);
    __builtin_memcpy(line.camera, o.name.text, sizeof line.camera);
    line.frames_per_s_x10 = static_cast<std::int32_t>(o.rate * 10 + 0.5);
    return line;
  }
};

/// Draws on a picture, in place.
struct draw_movement {
  using ports = streams::ports<streams::in<"video", image>, streams::in<"drawing", drawing>,
                               streams::out<"video", image, "video">>;
  struct options {};
  static constexpr bool cooperative = true;
  static void spec(options const& o, streams::spec_of<draw_movement>& s);

  RONDO_HD void process(streams::stage_context<draw_movement>& ctx, streams::tick const&) {
    auto const list = ctx.input<"drawing">();
    auto const to = ctx.edit<"video">();
    if (!to) return;
    with_lanes(ctx, [&](auto const& team) {
      draw_tile(team, frame_of(to.about, to.data), *reinterpret_cast<draw_list const*>(list.data),
                {0, to.about.height});
    });
    ctx.team().sync();
  }
};

}  // namespace rondo::video
