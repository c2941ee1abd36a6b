// A module with stages of both kinds, for devices that are tested with one program: numbers, and pictures of which a
// hash is told.
#pragma once

#include "actors/video/video_module.hpp"
#include "tests/streams/stages.hpp"

namespace stream_test {

namespace video = rondo::video;

/// Tells a hash of each picture in the log.
struct hasher {
  using ports = streams::ports<streams::in<"video", video::image>>;
  RONDO_HD void process(streams::stage_context<hasher>& ctx, streams::tick const& t) {
    auto const in = ctx.input<"video">();
    auto const picture = video::planes_at(in.about, in.data);
    std::uint32_t hash = 2166136261u;
    for (int p = 0; p < 3; ++p)
      for (std::int32_t y = 0; y < picture.of[p].height; ++y)
        for (std::int32_t x = 0; x < picture.of[p].width; ++x)
          hash = (hash ^ picture.of[p].at(x, y)) * 16777619u;
    ctx.log(log_level::info, "picture {} is {}", t.number, hash);
  }
};

RONDO_STAGES(all_stages, counter, adder, tiled_adder, checker, video::test_pattern, video::blur,
             video::compositor, video::waveform, video::frame_rate, hasher)

}  // namespace stream_test
