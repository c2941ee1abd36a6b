// The camera's functions between its wide steps; included by camera_actor.hpp.
#pragma once

#include "actors/overlay/camera_actor.hpp"

namespace rondo::overlay {

RONDO_HD inline errc camera::open(context& ctx, open_camera const& m) {
  if (step_ != step::idle || waiting_ != 0) return errc::wrong_state;
  buffer_view<std::byte> view;
  overlay_params const params{};
  if (auto const status = ctx.buffers().try_write(ref_of(m.memory), view); status != errc::ok) return status;
  bool const fits = m.tiles > 0 && view.count >= overlay_bytes(m.width, m.height, m.tiles, params);
  if (fits) {
    settings_ = m;
    carver memory(view.first);
    overlay_ = carve_overlay(memory, m.width, m.height, m.tiles, params);
    reset_overlay(overlay_);
    bool const same_size = tracks_.frame_width == m.width && tracks_.frame_height == m.height;
    if (!m.keep_state) frames_ = started_ = overflow_ = 0;
    if (m.keep_state && same_size) overlay_.scene->tracks = tracks_;
    paused_ = false;
    ticket_ = 0;
    rate_since_ns_ = rate_frames_ = rate_x10_ = 0;
  }
  ctx.buffers().end_write(ref_of(m.memory));
  return fits ? errc::ok : errc::buffer_out_of_bounds;
}

/// Leases the frame and the working memory until `label` has finished.
RONDO_HD inline errc camera::take_buffers(context& ctx) {
  frame const& f = now_.picture;
  if (f.format != pixel_format::i420 || f.width != settings_.width || f.height != settings_.height)
    return errc::wrong_state;
  buffer_view<std::byte> pixels, memory;
  if (auto const e = ctx.buffers().try_write(ref_of(f.pixels), pixels); e != errc::ok) return e;
  auto const taken = pixels.count < frame_buffer_bytes(f.width, f.height)
                         ? errc::buffer_out_of_bounds
                         : ctx.buffers().try_write(ref_of(settings_.memory), memory);
  if (taken != errc::ok) {
    ctx.buffers().end_write(ref_of(f.pixels));
    return taken;
  }
  carver carve(pixels.first);
  parts_ = carve_frame_buffer(carve, f.width, f.height);
  return errc::ok;
}

RONDO_HD inline void camera::conclude(std::uint64_t now_ns) {
  overlay_params const params{};
  overlay_scene& scene = *overlay_.scene;
  update_scene(overlay_, params, parts_.pixels);
  compose(scene.tracks, params.tracker, status_for(now_ns), *parts_.drawing);
  tracks_ = scene.tracks;
  overflow_ +=
      static_cast<std::uint32_t>(scene.regions.overflow + scene.regions.lost_runs + parts_.drawing->overflow);
  ++frames_;
}

RONDO_HD inline status_line camera::status_for(std::uint64_t now_ns) {
  ++rate_frames_;
  if (rate_since_ns_ == 0) {
    rate_since_ns_ = now_ns;
    rate_frames_ = 0;
  } else if (auto const passed = now_ns - rate_since_ns_; passed >= 500'000'000) {
    rate_x10_ = static_cast<std::uint32_t>(std::uint64_t{rate_frames_} * 10'000'000'000 / passed);
    rate_since_ns_ = now_ns;
    rate_frames_ = 0;
  }
  status_line line{};
  static_assert(sizeof line.camera >= sizeof settings_.name);
  for (std::size_t i = 0; i + 1 < sizeof settings_.name; ++i)
    line.camera[i] = static_cast<char>(settings_.name[i]);
  auto const rate = settings_.shown_rate_x10 != 0 ? settings_.shown_rate_x10 : rate_x10_;
  line.frames_per_s_x10 = static_cast<std::int32_t>(rate);
  return line;
}

RONDO_HD inline frame_done camera::result_of(waiting_frame const& f, errc status) const {
  overlay_params const params{};
  frame_done done;
  done.camera = f.picture.camera;
  done.status = static_cast<std::uint32_t>(status);
  done.number = f.picture.number;
  if (status != errc::ok) return done;
  done.ticket = now_ticket_;
  for (std::int32_t i = 0; i < tracks_.count; ++i)
    done.tracks += visible(params.tracker, tracks_.items[i]) ? 1 : 0;
  done.ids = static_cast<std::uint32_t>(tracks_.next_id - 1);
  done.overflow = overflow_ + static_cast<std::uint32_t>(tracks_.overflow);
  return done;
}

RONDO_HD inline errc camera::send_step(context& ctx, step due) {
  if (due == step::detect_due) return ctx.tell(ctx.self_as<camera>(), detect{}, {.priority = step_priority});
  if (due == step::label_due) return ctx.tell(ctx.self_as<camera>(), label{}, {.priority = step_priority});
  draw_job const job{now_.picture.pixels, settings_.width, settings_.height,
                     settings_.tiles,     now_.asker,      result_of(now_, errc::ok)};
  return ctx.tell(address<painter>{id_of(settings_.painter)}, job);
}

RONDO_HD inline void camera::advance(context& ctx) {
  for (;;) {
    by_one(ctx, [&] {
      if (step_ == step::idle && !paused_ && waiting_ != 0) start_next();
    });
    step const due = step_;
    if (due != step::detect_due && due != step::label_due && due != step::draw_due) return;
    errc const sent = send_step(ctx, due);
    by_one(ctx, [&] {
      if (due == step::draw_due) {
        if (sent != errc::ok) answer(ctx, now_, sent);
        step_ = step::idle;
      } else if (sent == errc::ok) {
        step_ = due == step::detect_due ? step::detecting : step::labelling;
      }
    });
    if (due != step::draw_due) return;
  }
}

}  // namespace rondo::overlay
