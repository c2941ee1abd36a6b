// The actor of one camera: keeps its background model and its tracks, and finds what moves in each frame.
//
// A frame is an ask. It waits in the actor's own queue, so that `pause` can hold it back and `snapshot` can
// overtake it, until the frame ahead has passed these steps:
//
//   detect   wide: each tile compares its rows with the background
//   label    wide: each tile cleans its mask and finds its runs; the last one updates regions and tracks and
//            composes the frame's drawing
//   draw     done by the painter (painter_actor.hpp), which answers the asker; at the same time, the next frame is
//            detected
//
// The camera sends `detect` and `label` to itself, with a higher priority than frames. If its mailbox is full
// of other mail, the step stays due and is sent when the next message is handled.
//
// Memory: `open_camera` names a buffer for the data that tiles share. Counts and tracks are in the state, so that
// checkpoints keep them. After a restore, the background is learnt again from the next frame.
#pragma once

#include "actors/overlay/painter_actor.hpp"
#include "actors/video/movement/pipeline.hpp"

namespace rondo::overlay {

class camera {
 public:
  struct detect {};  // from the camera to itself
  struct label {};   // likewise
  using messages = rondo::messages<ask<open_camera, camera_opened>, ask<frame, frame_done>, detect, label,
                                   pause, resume, ask<snapshot, snapshot_noted>>;
  static constexpr bool cooperative = true;

  /// Frames that may wait; a further one is answered with mailbox_full.
  static constexpr std::uint32_t queue_slots = 16;
  /// Priority of the steps that a camera sends to itself.
  static constexpr std::uint8_t step_priority = 192;

  /// Answers wrong_state while frames wait or run, and the buffer's error if there is no memory.
  RONDO_HD void on(context& ctx, open_camera const& m) {
    by_one(ctx, [&] {
      ctx.reply(camera_opened{m.camera, static_cast<std::uint32_t>(open(ctx, m)), frames_});
    });
  }

  RONDO_HD void on(context& ctx, frame const& m) {
    by_one(ctx, [&] { accept(ctx, {m, ctx.defer()}); });
    advance(ctx);
  }
  RONDO_HD void on(context& ctx, pause const&) {
    by_one(ctx, [&] { paused_ = true; });
    advance(ctx);
  }
  RONDO_HD void on(context& ctx, resume const&) {
    by_one(ctx, [&] { paused_ = false; });
    advance(ctx);
  }
  RONDO_HD void on(context& ctx, snapshot const& m) {
    by_one(ctx, [&] {
      ticket_ = m.ticket;
      ctx.reply(snapshot_noted{m.camera, m.ticket, started_});
    });
    advance(ctx);
  }

  RONDO_HD std::uint32_t tiles(context& ctx, detect const&) {
    by_one(ctx, [&] {
      if (step_ == step::detecting) status_ = take_buffers(ctx);
    });
    return step_ == step::detecting && status_ == errc::ok ? settings_.tiles : 0;
  }
  RONDO_HD void tile(context& ctx, detect const&, std::uint32_t tile) {
    overlay_params const params{};
    with_lanes(ctx, [&](auto const& team) {
      detect_tile(team, overlay_, params, parts_.pixels, static_cast<std::int32_t>(tile));
    });
  }
  RONDO_HD void finish(context& ctx, detect const&) {
    by_one(ctx, [&] {
      if (step_ != step::detecting) return;
      if (status_ != errc::ok) answer(ctx, now_, status_);
      step_ = status_ == errc::ok ? step::label_due : step::idle;
    });
    advance(ctx);
  }

  RONDO_HD std::uint32_t tiles(context&, label const&) {
    return step_ == step::labelling ? settings_.tiles : 0;
  }
  RONDO_HD void tile(context& ctx, label const&, std::uint32_t tile) {
    overlay_params const params{};
    with_lanes(ctx, [&](auto const& team) {
      label_tile(team, overlay_, params, static_cast<std::int32_t>(tile), ctx.team().leader());
    });
  }
  RONDO_HD void finish(context& ctx, label const&) {
    by_one(ctx, [&] {
      if (step_ != step::labelling) return;
      conclude(ctx.now_ns());
      ctx.buffers().end_write(ref_of(settings_.memory));
      ctx.buffers().end_write(ref_of(now_.picture.pixels));
      step_ = step::draw_due;
    });
    advance(ctx);
  }

 private:
  enum class step : std::uint8_t { idle, detect_due, detecting, label_due, labelling, draw_due };
  struct waiting_frame {
    frame picture{};
    reply_token asker{};
  };

  // -- called by one lane

  RONDO_HD errc open(context& ctx, open_camera const& m);
  RONDO_HD void accept(context& ctx, waiting_frame const& f) {
    if (waiting_ == queue_slots) return answer(ctx, f, errc::mailbox_full);
    queue_[(first_ + waiting_++) % queue_slots] = f;
  }
  RONDO_HD void start_next() {
    now_ = queue_[first_];
    first_ = (first_ + 1) % queue_slots;
    --waiting_;
    ++started_;
    now_ticket_ = ticket_;
    ticket_ = 0;
    step_ = step::detect_due;
  }
  RONDO_HD errc take_buffers(context& ctx);
  RONDO_HD void conclude(std::uint64_t now_ns);
  RONDO_HD status_line status_for(std::uint64_t now_ns);
  RONDO_HD frame_done result_of(waiting_frame const& f, errc status) const;
  RONDO_HD void answer(context& ctx, waiting_frame const& f, errc status) const {
    if (f.asker.to.valid()) ctx.reply_to(f.asker, result_of(f, status));
  }

  // -- called by all lanes

  /// Sends the step that is due, and starts the next frame if none runs.
  RONDO_HD void advance(context& ctx);
  RONDO_HD errc send_step(context& ctx, step due);

  open_camera settings_{};
  tracker_state tracks_{};    // after the last frame
  std::uint64_t frames_ = 0;  // finished
  std::uint64_t started_ = 0;
  std::uint32_t ticket_ = 0, now_ticket_ = 0;
  bool paused_ = false;
  step step_ = step::idle;
  errc status_ = errc::ok;

  waiting_frame queue_[queue_slots] = {};
  std::uint32_t first_ = 0, waiting_ = 0;

  waiting_frame now_{};    // the current frame, valid unless idle
  frame_parts parts_{};    // of now_, leased from detecting to labelling
  overlay_ref overlay_{};  // into settings_.memory, leased likewise
  std::uint32_t overflow_ = 0;

  std::uint64_t rate_since_ns_ = 0;
  std::uint32_t rate_frames_ = 0, rate_x10_ = 0;
};

}  // namespace rondo::overlay

#include "actors/overlay/camera_steps.hpp"
