// Writes the frame rate, and how late a picture is, into its upper left corner.
#pragma once

#include <string>

#include "actors/video/pixels/colours.hpp"
#include "actors/video/pixels/font.hpp"
#include "actors/video/pixels/image.hpp"
#include "actors/video/pixels/plane_place.hpp"
#include "actors/video/pixels/rows.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct frame_rate {
  using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image, "video">>;
  struct options {
    std::int32_t scale = 0;  // pixels per dot of the font; 0: by the picture's height
    bool fixed = false;      // writes the number of the tick instead, which is the same in each run
    void describe(auto& option) {
      option("scale", scale, "pixels per dot of the letters; 0: by the picture's height", 0, 64);
      option("fixed", fixed, "write the tick's number instead, which is the same in each run");
    }
  };
  static constexpr bool cooperative = true;
  static constexpr std::int32_t letters = 12;
  static void spec(options const& o, streams::spec_of<frame_rate>& s);

  void kernels(streams::stage_context<frame_rate>& ctx, streams::tick const& t, kernel_list& list) {
    auto const to = ctx.edit<"video">();
    if (!to) return;
    write_mask(ctx, t, to.about);
    each_plane(ctx, to, [&](image_view<std::uint8_t> const& plane, pixels::mask_work work) {
      work.to = place_of(plane, to.data);
      list.add(pixels::draw_mask_kernel, work, {{to.data, ctx.scratch()}},
               static_cast<std::uint32_t>(plane.height), static_cast<std::uint32_t>(plane.width));
    });
  }
  RONDO_HD void process(streams::stage_context<frame_rate>& ctx, streams::tick const& t) {
    auto const to = ctx.edit<"video">();
    if (!to) return;
    write_mask(ctx, t, to.about);
    auto const* const mask = reinterpret_cast<u8 const*>(ctx.scratch());
    rows const row{ctx.team()};
    each_plane(ctx, to, [&](image_view<std::uint8_t> const& plane, pixels::mask_work const& w) {
      for (std::int32_t y = 0; y < plane.height; ++y)
        row.mask(plane.row(y), mask + w.shrink * y / w.scale * w.mask_stride, w.shrink, w.value, w.width);
    });
    ctx.team().sync();
  }

  std::uint64_t since_ns = 0;
  std::uint32_t frames = 0, rate_x10 = 0;

  RONDO_HD static std::int32_t scale_for(options const& o, image const& about) {
    return o.scale > 0 ? o.scale : pixels::most(about.height / 240, 1);
  }

 private:
  /// Writes the text, as a mask with a row for each row of dots, to the scratch memory.
  RONDO_HD void write_mask(streams::stage_context<frame_rate>& ctx, streams::tick const& t,
                           image const& about) {
    if (ctx.team().leader()) count(t);
    ctx.team().sync();
    auto const scale = scale_for(ctx.options(), about);
    char text[letters + 1];
    write(text, ctx.options().fixed ? static_cast<std::uint32_t>(t.number) * 10 : rate_x10);
    auto* const mask = reinterpret_cast<u8*>(ctx.scratch());
    std::int32_t const width = letters * glyph_advance * scale;
    for (auto const x : ctx.lanes(static_cast<std::uint32_t>(width))) {
      auto const dot = static_cast<std::int32_t>(x) / scale, column = dot % glyph_advance;
      for (std::int32_t r = 0; r < glyph_rows; ++r)
        mask[r * width + static_cast<std::int32_t>(x)] =
            column < glyph_columns && (glyph_row(text[dot / glyph_advance], r) >> (4 - column) & 1) != 0 ? 255
                                                                                                         : 0;
    }
    ctx.team().sync();
  }
  /// Calls f(plane, work) with the part of each plane that the text covers.
  RONDO_EITHER_SIDE
  template <class F>
  RONDO_HD static void each_plane(streams::stage_context<frame_rate>& ctx,
                                  streams::frame_out<image> const& to, F const& f) {
    auto const picture = planes_at(to.about, to.data);
    auto const scale = scale_for(ctx.options(), to.about);
    std::int32_t const width = letters * glyph_advance * scale, margin = 2 * scale;
    auto const white = samples_of({255, 255, 255}, to.about.colours);
    std::uint8_t const colour[] = {white.y, white.u, white.v};
    for (int p = 0; p < 3; ++p) {
      std::int32_t const half = p == 0 ? 1 : 2;
      auto plane = picture.of[p];
      plane.data = plane.row(margin / half) + margin / half;
      plane.width = pixels::least(width / half, plane.width - margin / half);
      plane.height = pixels::least(glyph_rows * scale / half, plane.height - margin / half);
      if (plane.width > 0 && plane.height > 0)
        f(plane, pixels::mask_work{{}, width, half, scale, plane.width, colour[p]});
    }
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
  /// "   59.9 fps ".
  RONDO_HD static void write(char (&text)[letters + 1], std::uint32_t x10) {
    char const unit[] = " fps";
    std::int32_t at = letters - 4;
    for (std::int32_t i = 0; i <= 4; ++i) text[at + i] = unit[i];
    text[--at] = static_cast<char>('0' + x10 % 10);
    text[--at] = '.';
    x10 /= 10;
    do {
      text[--at] = static_cast<char>('0' + x10 % 10);
      x10 /= 10;
    } while (x10 != 0 && at > 0);
    while (at > 0) text[--at] = ' ';
  }
};

}  // namespace rondo::video
