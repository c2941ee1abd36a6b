// Draws the wave of a sound over the lower part of a picture: a curve in a darkened band. Without a sound, two tones
// that beat. Of several channels, each has a part of the width.
#pragma once

#include <string>

#include "actors/video/pixels/image.hpp"
#include "actors/video/pixels/plane_place.hpp"
#include "actors/video/pixels/rows.hpp"
#include "actors/video/pixels/sound.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct waveform {
  using ports = streams::ports<streams::in<"video", image>, streams::optional_in<"sound", sound>,
                               streams::out<"video", image, "video">>;
  struct options {
    float height = 0.2F;                    // of the band, as a share of the picture
    std::uint8_t y = 220, u = 90, v = 110;  // the colour of the curve
    void describe(auto& option) {
      option("height", height, "of the band, as a share of the picture", 0.01, 1);
      option("y", y, "brightness of the curve");
      option("u", u, "its colour, blue");
      option("v", v, "its colour, red");
    }
  };
  static constexpr auto width = rondo::width::whole_team;
  static void spec(options const& o, streams::spec_of<waveform>& s);

  void kernels(streams::stage_context<waveform>& ctx, streams::tick const& t, kernel_list& list) {
    auto const to = ctx.edit<"video">();
    if (!to) return;
    find_heights(ctx, t, to.about);
    each_plane(ctx, to, [&](image_view<std::uint8_t> const& plane, pixels::band_work work) {
      work.to = place_of(plane, to.data);
      list.add(pixels::draw_band_kernel, work, {{to.data, ctx.scratch()}},
               static_cast<std::uint32_t>(plane.height), static_cast<std::uint32_t>(plane.width));
    });
  }
  RONDO_HD void process(streams::stage_context<waveform>& ctx, streams::tick const& t) {
    auto const to = ctx.edit<"video">();
    if (!to) return;
    find_heights(ctx, t, to.about);
    auto const* const low = reinterpret_cast<u16 const*>(ctx.scratch());
    rows const row{ctx.team()};
    each_plane(ctx, to, [&](image_view<std::uint8_t> const& plane, pixels::band_work const& w) {
      for (std::int32_t y = 0; y < plane.height; ++y)
        row.band(plane.row(y), low, low + w.columns, w.shrink, static_cast<u16>(w.shrink * y), w.colours,
                 plane.width);
    });
    ctx.team().sync();
  }

 private:
  RONDO_HD static std::int32_t band_of(options const& o, image const& about) {
    return pixels::within(static_cast<std::int32_t>(o.height * static_cast<float>(about.height)), 2,
                          about.height) /
           2 * 2;
  }
  /// The rows of the band between which the curve lies in each column: all lower ones in the scratch memory, then the
  /// upper ones.
  RONDO_HD static void find_heights(streams::stage_context<waveform>& ctx, streams::tick const& t,
                                    image const& about) {
    std::int32_t const width = about.width, band = band_of(ctx.options(), about);
    auto* const low = reinterpret_cast<u16*>(ctx.scratch());
    auto* const high = low + width;
    auto const heard = ctx.input<"sound">();
    for (auto const x : ctx.lanes(static_cast<std::uint32_t>(width))) {
      auto const a = value_at(heard, t.number, static_cast<std::int32_t>(x), width);
      auto const b = value_at(heard, t.number, static_cast<std::int32_t>(x) + 1, width);
      auto const row_of = [&](std::int32_t v) { return band / 2 - v * (band / 2 - 2) / 32768; };
      low[x] = static_cast<u16>(pixels::within(row_of(pixels::most(a, b)) - 1, 0, band - 1));
      high[x] = static_cast<u16>(pixels::within(row_of(pixels::least(a, b)) + 1, 0, band - 1));
    }
    ctx.team().sync();
  }
  /// Calls f(plane, work) with the part of each plane that the band covers.
  RONDO_EITHER_SIDE
  template <class F>
  RONDO_HD static void each_plane(streams::stage_context<waveform>& ctx, streams::frame_out<image> const& to,
                                  F const& f) {
    auto const& o = ctx.options();
    auto const picture = planes_at(to.about, to.data);
    std::int32_t const band = band_of(o, to.about);
    std::uint8_t const inside[] = {o.y, o.u, o.v};
    std::uint8_t const outside[] = {to.about.colours.is_full != 0 ? u8{0} : u8{16}, 128, 128};
    for (int p = 0; p < 3; ++p) {
      std::int32_t const half = p == 0 ? 1 : 2;
      auto plane = picture.of[p];
      plane.data = plane.row((to.about.height - band) / half);
      plane.height = band / half;
      f(plane, pixels::band_work{{}, half, to.about.width, plane.width, {inside[p], 230, outside[p], 96}});
    }
  }
  /// -32768 to 32767, without floating point: a GPU rounds sines in another way.
  RONDO_HD static std::int32_t value_at(streams::frame_in<sound> const& heard, std::uint64_t number,
                                        std::int32_t x, std::int32_t width) {
    auto const count = heard ? reinterpret_cast<sound_block const*>(heard.data)->count : 0;
    if (count > 0) {
      auto const all = static_cast<std::int64_t>(count) * heard.about.channels;
      auto const at = static_cast<std::int64_t>(x) * all / width;
      auto const value = samples_of(heard.data, 0)[at < all ? at : all - 1];
      return static_cast<std::int32_t>((value < -1 ? -1.0F : value > 1 ? 1.0F : value) * 32767.0F);
    }
    auto const phase = static_cast<std::uint32_t>(x) * (8u * 65536u / static_cast<std::uint32_t>(width));
    auto const slow = static_cast<std::uint32_t>(number) * 1024u;
    return (parabola(phase + slow) * 2 + parabola(phase * 9 / 8 - slow)) / 3;
  }
  /// Two parabolas in place of a sine; the period is 65536.
  RONDO_HD static std::int32_t parabola(std::uint32_t phase) {
    auto const x = static_cast<std::int32_t>(phase & 32767u);
    auto const arch = x * (32768 - x) / 8192;
    return (phase & 32768u) != 0 ? -pixels::least(arch, 32767) : pixels::least(arch, 32767);
  }
};

}  // namespace rondo::video
