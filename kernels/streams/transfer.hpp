// The two ends of a transfer, on two devices. The host copies between them: it asks the outlet for the next frame and
// the inlet for a block, copies, and tells the inlet that the frame has arrived. An outlet keeps its frame until the
// host asks for the next one.
//
// Threads: actors. What they keep lies in stage_memory: the outlet has one input, the inlet one output.
#pragma once

#include "kernels/actor/module.hpp"
#include "kernels/streams/stage_loop.hpp"

namespace rondo::streams {

/// A frame on the outlet's device.
struct frame_note {
  std::byte const* data;  // null: no more comes
  std::uint32_t bytes;
  alignas(8) std::byte about[max_about_bytes];
  std::uint64_t number, time_ns;
  frame_origin origin;
};
/// From the host to the outlet: the frame before was copied.
struct next_frame {};

/// A block on the inlet's device.
struct block_note {
  std::byte* data;
};
/// From the host to the inlet. Answered when there is a free block, and room behind it.
struct next_block {};
/// From the host to the inlet: its block holds this frame.
struct frame_arrived {
  frame_note frame;
};

/// What both ends have in common.
struct transfer_end {
  static constexpr bool saved_apart = true;  // as a stage
  struct arguments {
    stage_memory* memory;
  };
  stage_memory* memory;
  reply_token asker;  // of the host, which asks once at a time
  bool asked;

  RONDO_HD void on(context& ctx, news const&) { ctx.again(); }
  RONDO_HD void on(context&, tick_due const&) {}
  RONDO_HD void on(context&, graph_stops const&) {}
  RONDO_HD void on(context& ctx, await_end const&) {
    memory->ender = ctx.defer();
    answer_end(ctx);
    ctx.again();
  }
  RONDO_HD stage_counts on(context& ctx, read_counts const&) {
    ctx.again();
    return memory->counts;
  }

 protected:
  RONDO_HD void answer_end(context& ctx) {
    if (memory->counts.ended == 0 || !memory->ender.to.valid()) return;
    ctx.reply_to(memory->ender, memory->counts);
    memory->ender = {};
  }
};

struct outlet : transfer_end {
  using messages = rondo::messages<news, tick_due, stop_source, graph_stops, again,
                                   ask<next_frame, frame_note>, ask<await_end, stage_counts>,
                                   ask<read_counts, stage_counts>, ask<read_progress, stage_progress>>;
  using arguments = transfer_end::arguments;
  using transfer_end::on;

  RONDO_HD void on_start(context&, arguments const& a) { memory = a.memory; }
  RONDO_HD void on(context& ctx, stop_source const&) {
    memory->is_done = true;
    ctx.again();
  }
  RONDO_HD stage_progress on(context& ctx, read_progress const&) {
    ctx.again();
    auto p = stage_loop{ctx, *memory}.progress();
    p.is_busy |= is_out ? 1u : 0u;
    return p;
  }
  RONDO_HD void on(context& ctx, next_frame const&) {
    stage_loop loop{ctx, *memory};
    if (is_out) loop.conclude(now, ctx.now_ns());
    is_out = false;
    asker = ctx.defer();
    asked = true;
    ctx.again();
  }
  RONDO_HD void on(context& ctx, again const&) {
    answer_end(ctx);
    if (is_out || !asked) return;
    stage_loop loop{ctx, *memory};
    auto const found = loop.look();
    if (found == stage_loop::state::waits) return;
    frame_note note{};
    if (found == stage_loop::state::ready) {
      now = loop.begin();
      frame const& f = memory->inputs[0].now;
      note = {.data = f.data,
              .bytes = f.bytes,
              .about = {},
              .number = f.number,
              .time_ns = f.time_ns,
              .origin = f.origin};
      __builtin_memcpy(note.about, f.about, sizeof note.about);
      is_out = true;
    } else {
      loop.end();
    }
    asked = false;
    ctx.reply_to(asker, note);
    answer_end(ctx);
  }

  tick now;
  bool is_out;  // the host has the frame in hand
};

struct inlet : transfer_end {
  using messages = rondo::messages<news, tick_due, stop_source, graph_stops, again,
                                   ask<next_block, block_note>, frame_arrived, ask<await_end, stage_counts>,
                                   ask<read_counts, stage_counts>, ask<read_progress, stage_progress>>;
  using arguments = transfer_end::arguments;
  using transfer_end::on;

  RONDO_HD void on_start(context&, arguments const& a) { memory = a.memory; }
  RONDO_HD stage_progress on(context&, read_progress const&) {
    return {};
  }  // what arrives is passed on at once
  RONDO_HD void on(context& ctx, stop_source const&) {
    if (memory->counts.ended == 0) stage_loop{ctx, *memory}.end();
    answer_end(ctx);
  }
  RONDO_HD void on(context& ctx, next_block const&) {
    asker = ctx.defer();
    asked = true;
    ctx.again();
  }
  RONDO_HD void on(context& ctx, frame_arrived const& m) {
    output_state& o = memory->outputs[0];
    if (!o.has) return ctx.fail(errc::wrong_state);
    o.next.bytes = m.frame.bytes;
    __builtin_memcpy(o.next.about, m.frame.about, sizeof o.next.about);
    memory->origin = m.frame.origin;
    tick const t{.number = m.frame.number, .time_ns = m.frame.time_ns};
    stage_loop{ctx, *memory}.conclude(t, ctx.now_ns());
    ctx.again();
  }
  RONDO_HD void on(context& ctx, again const&) {
    if (!asked || !stage_loop{ctx, *memory}.outputs_have_room()) return;
    output_state& o = memory->outputs[0];
    auto const block = o.pool->take();
    o.next = {.data = o.pool->data(block), .pool = o.pool, .block = block};
    o.has = true;
    asked = false;
    ctx.reply_to(asker, block_note{o.next.data});
  }
};

}  // namespace rondo::streams
