// Writes the frame rate, and how late a picture is, into its upper left corner.
#pragma once

#include <string>

#include "actors/video/movement/actor_lanes.hpp"
#include "actors/video/movement/draw.hpp"
#include "actors/video/pixels/colours.hpp"
#include "actors/video/pixels/image.hpp"
#include "actors/video/pixels/lettering.hpp"
#include "actors/video/pixels/plane_place.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct frame_rate {
  using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image, "video">>;
  struct options {
    std::int32_t scale =
        0;  // a seventh of the height of its capital letters, in pixels; 0: by the picture's height
    bool fixed = false;  // writes the number of the tick instead, which is the same in each run
    void describe(auto& option) {
      option("scale", scale, "a seventh of the letters' height, in pixels; 0: by the picture's height", 0,
             64);
      option("fixed", fixed, "write the tick's number instead, which is the same in each run");
    }
  };
  static constexpr auto width = rondo::width::whole_team;
  static void spec(options const& o, streams::spec_of<frame_rate>& s);

  void kernels(streams::stage_context<frame_rate>& ctx, streams::tick const& t, kernel_list& list) {
    auto const to = ctx.edit<"video">();
    if (!to) return;
    provide_letters(one_lane{}, *book(ctx), sizes_for(ctx.options(), to.about));
    compose(ctx, t, to.about);
    auto const p = planes_at(to.about, to.data);
    auto const rows = rows_of(ctx, to.about);
    list.add(pixels::draw_shapes_kernel,
             {place_of(p.of[0], to.data), place_of(p.of[1], to.data), place_of(p.of[2], to.data),
              to.about.width, to.about.height},
             {{to.data, kernel_buffers::read(drawing(ctx)), kernel_buffers::read(book(ctx))}},
             static_cast<std::uint32_t>(rows.last / 2), static_cast<std::uint32_t>(p.of[1].width));
  }
  RONDO_HD void process(streams::stage_context<frame_rate>& ctx, streams::tick const& t) {
    auto const to = ctx.edit<"video">();
    if (!to) return;
    auto const p = planes_at(to.about, to.data);
    with_lanes(ctx, [&](auto const& team) {
      provide_letters(team, *book(ctx), sizes_for(ctx.options(), to.about));
      if (ctx.team().leader()) compose(ctx, t, to.about);
      team.sync();
      draw_tile(team, {p.of[0], p.of[1], p.of[2]}, *drawing(ctx), *book(ctx), rows_of(ctx, to.about));
    });
    ctx.team().sync();
  }

  std::uint64_t since_ns = 0;
  std::uint32_t frames = 0, rate_x10 = 0;

  RONDO_HD static std::int32_t scale_for(options const& o, image const& about) {
    return pixels::within(o.scale > 0 ? o.scale : about.height / 240, 1, 64);
  }
  RONDO_HD static letter_sizes sizes_for(options const& o, image const& about) {
    return {{7 * scale_for(o, about)}};
  }

 private:
  // The scratch memory: what is drawn, and the letters.
  RONDO_HD static draw_list* drawing(streams::stage_context<frame_rate>& ctx) {
    return reinterpret_cast<draw_list*>(ctx.scratch());
  }
  RONDO_HD static pixels::letter_book* book(streams::stage_context<frame_rate>& ctx) {
    return reinterpret_cast<pixels::letter_book*>(ctx.scratch() + sizeof(draw_list));
  }

  /// Counts the picture, and writes the text. Called by one lane.
  RONDO_HD void compose(streams::stage_context<frame_rate>& ctx, streams::tick const& t, image const& about) {
    count(t);
    auto const x10 = ctx.options().fixed ? static_cast<std::uint32_t>(t.number) * 10 : rate_x10;
    std::int32_t const margin = 2 * scale_for(ctx.options(), about);
    text_line line{margin, margin, 0, samples_of({255, 255, 255}, about.colours), 256, 0, {}};
    append(line, static_cast<std::int64_t>(x10 / 10));
    append(line, ".");
    append(line, static_cast<std::int64_t>(x10 % 10));
    append(line, " fps");
    clear(*drawing(ctx));
    add(*drawing(ctx), line);
  }
  /// The rows of the picture that the text may touch, up to an even one.
  RONDO_HD static band rows_of(streams::stage_context<frame_rate>& ctx, image const& about) {
    std::int32_t const below = 2 * scale_for(ctx.options(), about) + book(ctx)->face[0].below;
    return {0, pixels::least((below + 1) / 2 * 2, (about.height + 1) / 2 * 2)};
  }
  RONDO_HD void count(streams::tick const& t) {
    ++frames;
    if (since_ns == 0) since_ns = t.time_ns, frames = 0;
    auto const passed = t.time_ns - since_ns;
    if (passed < 500'000'000) return;
    rate_x10 = static_cast<std::uint32_t>(std::uint64_t{frames} * 10'000'000'000 / passed);
    since_ns = t.time_ns;
    frames = 0;
  }
};

}  // namespace rondo::video
