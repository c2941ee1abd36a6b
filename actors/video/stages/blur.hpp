// Gaussian blur of pictures.
#pragma once

#include <string>

#include "actors/video/pixels/image.hpp"
#include "actors/video/pixels/plane_place.hpp"
#include "actors/video/pixels/rows.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct blur {
  using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image>>;
  struct options {
    float sigma = 2;  // in pixels. Samples farther than 3 sigma, or 8 pixels, count as nothing
    void describe(auto& option) { option("sigma", sigma, "standard deviation in pixels", 0.1, 4); }
  };
  static constexpr auto width = rondo::width::whole_team;
  static void spec(options const& o, streams::spec_of<blur>& s);

  RONDO_HD static pixels::blur_weights weights_for(float sigma) {
    return pixels::gaussian_weights(
        static_cast<std::uint32_t>(pixels::most(static_cast<i32>(sigma * 64 + 0.5F), 1)));
  }

  void kernels(streams::stage_context<blur>& ctx, streams::tick const&, kernel_list& list) {
    auto const in = ctx.input<"video">();
    auto const out = ctx.output<"video">(in.about);
    if (!out) return;
    auto const from = planes_at(in.about, in.data), to = planes_at(out.about, out.data);
    auto const weights = weights_for(ctx.options().sigma);
    for (int p = 0; p < (in.about.format == pixel_format::i420a ? 4 : 3); ++p) {
      auto const &read = from.of[p], &written = to.of[p];
      auto const rows = static_cast<std::uint32_t>(read.height),
                 columns = static_cast<std::uint32_t>(read.width);
      pixels::plane_place const between{0, read.stride};
      list.add(pixels::blur_rows_down_kernel,
               {between, place_of(read, in.data), read.width, read.height, weights},
               {{ctx.scratch(), kernel_buffers::read(in.data)}}, rows, columns);
      list.add(pixels::blur_rows_across_kernel,
               {place_of(written, out.data), between, read.width, read.height, weights},
               {{out.data, ctx.scratch()}}, rows, columns);
    }
  }
  RONDO_HD void process(streams::stage_context<blur>& ctx, streams::tick const&) {
    auto const in = ctx.input<"video">();
    auto const out = ctx.output<"video">(in.about);
    if (!out) return;
    auto const from = planes_at(in.about, in.data), to = planes_at(out.about, out.data);
    auto const weights = weights_for(ctx.options().sigma);
    auto* const between = reinterpret_cast<u8*>(ctx.scratch());
    rows const row{ctx.team()};
    for (int p = 0; p < (in.about.format == pixel_format::i420a ? 4 : 3); ++p) {
      auto const& plane = from.of[p];
      for (std::int32_t y = 0; y < plane.height; ++y) {
        row.blur_down(between, plane.data, plane.stride, plane.height, y, plane.width, weights);
        ctx.team().sync();
        row.blur_across(to.of[p].row(y), between, plane.width, weights);
        ctx.team().sync();
      }
    }
  }
};

}  // namespace rondo::video
