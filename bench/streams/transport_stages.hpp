// Stages that read and write 8 bytes of a picture, in place of those that compute its pixels: what is left is the cost
// of the runtime, the copies and the bus. The number in these bytes shows that the picture has passed through all of
// them.
#pragma once

#include "actors/video/pixels/image.hpp"
#include "kernels/streams/stage.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "runtime/runtime.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

namespace streams_bench {

using rondo::video::image;
namespace streams = rondo::streams;

RONDO_HD inline std::uint64_t number_in(std::byte const* data) {
  std::uint64_t n;
  __builtin_memcpy(&n, data, sizeof n);
  return n;
}
RONDO_HD inline void set_number(std::byte* data, std::uint64_t n) { __builtin_memcpy(data, &n, sizeof n); }

/// In place of the test pattern: the number of the tick.
struct number_source {
  using ports = streams::ports<streams::out<"video", image>>;
  struct options {
    std::int32_t width = 0, height = 0;
  };
  static void spec(options const& o, streams::spec_of<number_source>& s) {
    s.out<"video">({o.width, o.height});
  }
  RONDO_HD void process(streams::stage_context<number_source>& ctx, streams::tick const& t) {
    auto const to = ctx.output<"video">({ctx.options().width, ctx.options().height});
    if (to) set_number(to.data, t.number);
  }
};

/// In place of the blur: adds 1, in a new picture.
struct add_in_new {
  using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image>>;
  RONDO_HD void process(streams::stage_context<add_in_new>& ctx, streams::tick const&) {
    auto const in = ctx.input<"video">();
    auto const to = ctx.output<"video">(in.about);
    if (to) set_number(to.data, number_in(in.data) + 1);
  }
};

/// In place of a stage that draws on its picture: adds 1.
struct add_in_place {
  using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image, "video">>;
  RONDO_HD void process(streams::stage_context<add_in_place>& ctx, streams::tick const&) {
    auto const to = ctx.edit<"video">();
    if (to) set_number(to.data, number_in(to.data) + 1);
  }
};

/// Fails the graph at a picture that three stages have not changed.
struct number_sink {
  using ports = streams::ports<streams::in<"video", image>>;
  RONDO_HD void process(streams::stage_context<number_sink>& ctx, streams::tick const& t) {
    if (number_in(ctx.input<"video">().data) != t.number + 3) ctx.fail_graph();
  }
};

/// What makes a graph naive: stands on the host between two stages of a device, so each picture is copied down to it,
/// and up again. Takes memory for the picture in both places, and gives it back, as a program does that allocates for
/// each frame.
struct way_by_host {
  using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image, "video">>;
  struct options {
    rondo::runtime* rt = nullptr;
    std::uint32_t device = 0;
  };
  static constexpr auto where = streams::works::on_host;
  void process(streams::stage_context<way_by_host>& ctx, streams::tick const&) {
    auto const bytes = ctx.input<"video">().about.bytes();
    auto const& o = ctx.options();
    auto const here = o.rt->buffers(0).acquire_buffer(bytes),
               there = o.rt->buffers(o.device).acquire_buffer(bytes);
    if (!here || !there) return ctx.fail_graph();
    ctx.pass<"video">();
  }
};

}  // namespace streams_bench
