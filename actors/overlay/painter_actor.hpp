// The actor that draws boxes, labels, and the status line on a frame, and then answers the frame's
// asker.
//
// It keeps nothing between frames. While it draws one frame, the camera analyses the next.
#pragma once

#include "actors/overlay/frame_buffer.hpp"
#include "actors/video/movement/actor_lanes.hpp"
#include "actors/video/movement/draw.hpp"
#include "kernels/actor/module.hpp"
#include "kernels/buffers/buffer.hpp"

namespace rondo::overlay {

/// From a camera to its painter. The drawing is in the frame's buffer; `result` is the answer for `asker`.
struct draw_job {
  buffer_handle pixels;
  std::uint16_t width, height, tiles;
  reply_token asker;
  frame_done result;
};

class painter {
 public:
  using messages = rondo::messages<draw_job>;
  static constexpr bool cooperative = true;

  /// Takes the write lease of the frame. If that fails, there are no tiles.
  RONDO_HD std::uint32_t tiles(context& ctx, draw_job const& job) {
    by_one(ctx, [&] {
      buffer_view<std::byte> view;
      status_ = ctx.buffers().try_write(ref_of(job.pixels), view);
      if (status_ != errc::ok) return;
      carver memory(view.first);
      parts_ = carve_frame_buffer(memory, job.width, job.height);
    });
    return status_ == errc::ok ? job.tiles : 0;
  }
  RONDO_HD void tile(context& ctx, draw_job const& job, std::uint32_t tile) {
    band const rows = band_of(job.height, job.tiles, static_cast<std::int32_t>(tile), 2);
    with_lanes(ctx, [&](auto const& team) { draw_tile(team, parts_.pixels, *parts_.drawing, rows); });
  }
  RONDO_HD void finish(context& ctx, draw_job const& job) {
    if (!ctx.team().leader()) return;
    if (status_ == errc::ok) ctx.buffers().end_write(ref_of(job.pixels));
    frame_done answer = job.result;
    answer.status = static_cast<std::uint32_t>(status_);
    if (job.asker.to.valid()) ctx.reply_to(job.asker, answer);
  }

 private:
  errc status_ = errc::ok;
  frame_parts parts_{};
};

}  // namespace rondo::overlay
