// A source of test pictures: bars, a ramp, and a box that moves. The same tick has the same picture on every device.
#pragma once

#include <string>

#include "actors/video/pixels/image.hpp"
#include "actors/video/pixels/plane_place.hpp"
#include "actors/video/pixels/rows.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct test_pattern {
  using ports = streams::ports<streams::out<"video", image>>;
  struct options {
    std::int32_t width = 640, height = 480;
    void describe(auto& option) {
      option("width", width, "of the pictures, in pixels", 16, 16384);
      option("height", height, "of the pictures, in pixels", 16, 16384);
    }
  };
  static constexpr auto width = rondo::width::whole_team;
  static void spec(options const& o, streams::spec_of<test_pattern>& s);

  void kernels(streams::stage_context<test_pattern>& ctx, streams::tick const& t, kernel_list& list) {
    auto const& o = ctx.options();
    auto const to = ctx.output<"video">({o.width, o.height});
    if (!to) return;
    auto const picture = planes_at(to.about, to.data);
    for (int p = 0; p < 3; ++p) {
      auto const& plane = picture.of[p];
      list.add(pixels::draw_pattern_kernel,
               {place_of(plane, to.data), p,
                pixels::pattern_for(o.width, o.height, p == 0 ? 1 : 2, static_cast<std::uint32_t>(t.number))},
               {{to.data}}, static_cast<std::uint32_t>(plane.height),
               static_cast<std::uint32_t>(plane.width));
    }
  }
  RONDO_HD void process(streams::stage_context<test_pattern>& ctx, streams::tick const& t) {
    auto const& o = ctx.options();
    auto const to = ctx.output<"video">({o.width, o.height});
    if (!to) return;
    auto const picture = planes_at(to.about, to.data);
    rows const row{ctx.team()};
    for (int p = 0; p < 3; ++p) {
      auto const& plane = picture.of[p];
      auto const shape =
          pixels::pattern_for(o.width, o.height, p == 0 ? 1 : 2, static_cast<std::uint32_t>(t.number));
      for (std::int32_t y = 0; y < plane.height; ++y)
        row.pattern(plane.row(y), static_cast<pixels::plane_kind>(p), shape, y);
    }
  }
};

}  // namespace rondo::video
