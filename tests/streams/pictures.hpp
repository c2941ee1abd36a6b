// A module with stages of both kinds, for devices that are tested with one program: numbers, and pictures of which a
// hash is told.
#pragma once

#include "actors/video/video_module.hpp"
#include "tests/streams/overlay/drawn_graph.hpp"
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

/// Tells the samples of each picture in the log, 32 in a line: rows are at most 64 wide, and have gaps behind them.
struct printer {
  using ports = streams::ports<streams::in<"video", video::image>>;
  RONDO_HD void process(streams::stage_context<printer>& ctx, streams::tick const&) {
    auto const in = ctx.input<"video">();
    auto const picture = video::planes_at(in.about, in.data);
    for (int p = 0; p < 3; ++p)
      for (std::int32_t y = 0; y < picture.of[p].height; ++y)
        for (std::int32_t x = 0; x < picture.of[p].width; x += 32) {
          auto const* const words = reinterpret_cast<std::uint64_t const*>(picture.of[p].row(y) + x);
          ctx.log(log_level::info, "{} {} {} {}", words[0], words[1], words[2], words[3]);
        }
  }
};

RONDO_STAGES(all_stages, counter, adder, tiled_adder, checker, video::blur, video::waveform,
             video::frame_rate, hasher, printer, RONDO_OVERLAY_STAGES)

}  // namespace stream_test
