// The end of a graph for pictures that nobody is to see: to measure, and to test.
#pragma once

#include "actors/video/pixels/image.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

/// Takes pictures and drops them.
struct null_sink {
  using ports = streams::ports<streams::in<"video", image>>;
  static bool takes(image const&) { return true; }
  RONDO_HD void process(streams::stage_context<null_sink>&, streams::tick const&) {}
};

/// Calls a function of the program with each picture, on the thread that runs the stage.
struct callback_sink {
  using ports = streams::ports<streams::in<"video", image>>;
  using function = void (*)(void* with, image const&, std::byte const* data, streams::tick const&);
  struct options {
    function call = nullptr;
    void* with = nullptr;
  };
  static constexpr auto where = streams::works::on_host;

  void process(streams::stage_context<callback_sink>& ctx, streams::tick const& t) {
    auto const in = ctx.input<"video">();
    ctx.options().call(ctx.options().with, in.about, in.data, t);
  }
};

}  // namespace rondo::video
