// A stage of a graph: a behaviour that reads frames from its inputs, and writes frames to its outputs.
//
//   struct invert {
//     using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image>>;
//     struct options { std::uint32_t strength = 255; };                              // optional; trivially copyable
//
//     RONDO_HD void process(streams::stage_context<invert>& ctx, streams::tick const&) {
//       auto const from = ctx.input<"video">();
//       auto const to = ctx.output<"video">(from.about);
//       for (std::uint32_t i = 0; i < from.about.bytes(); ++i) to.data[i] = invert(from.data[i]);
//     }
//   };
//   RONDO_STAGES(effects, invert, ...)
//
// A source that works on the host may have ticks of its own instead of the clock's:
// `static constexpr bool has_own_ticks = true`, and `bool due(stage_context&, tick_due&)`, which says whether there is
// something to process, and as which tick. It is asked when the stage was woken (kernels/streams/host_link.hpp), after
// each tick, and when there is room again.
// A stage whose ticks are long is *wide* if it lets several teams of its device work on one:
//
//     static constexpr std::uint32_t phases = 2;                               // one after the other
//     RONDO_HD std::uint32_t tiles(stage_context&, tick const&, std::uint32_t phase);         // how many it has
//     RONDO_HD void tile(stage_context&, tick const&, std::uint32_t phase, std::uint32_t n);  // any teams, at once
//
// `process` follows when the last phase is done. `tiles` and `process` run on one team, and may do the same; what a
// tile writes to, `tiles` keeps in members. Messages are handled between phases.
// A stage may also have its work as portable kernels (kernels/portable/kernel.hpp), for a GPU that plays them beside
// the device `cpu` (runtime/player/kernel_player.hpp):
//
//     void kernels(stage_context&, tick const&, kernel_list&);
//
// It takes its outputs as `process` does, and lists kernels that write the same bytes. `process` runs where no such GPU
// is, and for a tick at which it was lost; what a lost list has changed in place stays changed, as after any attempt
// that failed. A wide stage has kernels for some of its phases, instead of tiles, and says for which:
//
//     bool kernels(stage_context&, tick const&, std::uint32_t phase, kernel_list&);
//
// Optional, on its device: `on_start(stage_context&)` after each construction, `on_stop(stage_context&)` when nothing
// more comes, and `width`, as for any behaviour. Optional, on the host:
// `static constexpr auto where = works::on_host`; `spec` (runtime/streams/kinds/stage_spec.hpp) and `host`
// (runtime/streams/kinds/stage_kind.hpp). When a tick is processed: kernels/streams/stage_loop.hpp.
#pragma once

#include "kernels/actor/module.hpp"
#include "kernels/streams/clock.hpp"
#include "kernels/streams/stage_context.hpp"
#include "kernels/streams/stage_loop.hpp"
#include "kernels/streams/transfer.hpp"

namespace rondo::streams {

namespace detail {

template <class Stage>
inline constexpr bool is_wide = false;
template <class Stage>
requires requires { Stage::phases; }
inline constexpr bool is_wide<Stage> = true;

template <class Stage>
concept lists_kernels = (!is_wide<Stage> &&
                         requires(Stage s, stage_context<Stage>& c, tick const& t, kernel_list& list) {
                           { s.kernels(c, t, list) } -> std::same_as<void>;
                         }) ||
                        (is_wide<Stage> &&
                         requires(Stage s, stage_context<Stage>& c, tick const& t, kernel_list& list) {
                           { s.kernels(c, t, 0u, list) } -> std::same_as<bool>;
                         });

}  // namespace detail

/// The actor of a stage.
template <class Stage>
struct stage_of {
  // -- for the runtime
  static constexpr bool is_wide = detail::is_wide<Stage>;
  struct arguments {
    stage_memory* memory;  // on its device
  };
  template <class... More>
  using and_others =
      rondo::messages<news, tick_due, stop_source, graph_stops, again, ask<await_end, stage_counts>,
                      ask<read_counts, stage_counts>, ask<read_progress, stage_progress>, More...>;
  using messages = std::conditional_t<is_wide, and_others<next_phase>, and_others<>>;
  static constexpr auto width = rondo::detail::width_of<Stage>;
  static constexpr bool saved_apart = true;  // a graph has checkpoints of its own

  RONDO_CALL RONDO_HD void on_start(context& ctx, arguments const& a) {
    if (ctx.team().leader()) {
      memory = a.memory;
      memory->phases = {};  // of an attempt that failed
      if (auto const why = memory->tile_failure.exchange(0, memory_order::relaxed))
        memory->counts.failure = why;
    }
    ctx.team().sync();
    if constexpr (runs_here && requires(Stage s, stage_context<Stage> c) { s.on_start(c); }) {
      stage_context<Stage> c{ctx, *memory};
      stage.on_start(c);
    }
    ctx.again();
  }
  // Each handler asks to look again. So a stage whose mailbox has no room for `news` needs none.
  RONDO_HD void on(context& ctx, news const&) { ctx.again(); }
  RONDO_HD void on(context& ctx, tick_due const& t) {
    if (ctx.team().leader()) stage_loop{ctx, *memory}.tick_is_due(t);
    ctx.again();
  }
  RONDO_HD void on(context& ctx, stop_source const&) {
    if (ctx.team().leader()) memory->is_done = true;
    ctx.again();
  }
  RONDO_HD void on(context& ctx, graph_stops const&) {
    if (ctx.team().leader()) memory->is_stopping = true;
    ctx.again();
  }
  RONDO_CALL RONDO_HD void on(context& ctx, await_end const&) {
    auto const asker = ctx.defer();
    if (ctx.team().leader()) memory->ender = asker;
    answer_end(ctx);
    ctx.again();
  }
  RONDO_HD stage_counts on(context& ctx, read_counts const&) {
    ctx.again();
    return memory->counts;
  }
  RONDO_HD stage_progress on(context& ctx, read_progress const&) {
    ctx.again();
    return ctx.team().leader() ? stage_loop{ctx, *memory}.progress() : stage_progress{};
  }

  RONDO_CALL RONDO_HD void on(context& ctx, again const&) {
    using state = stage_loop::state;
    stage_loop loop{ctx, *memory};
    if (ctx.team().leader() && !loop.tell_end()) ctx.again();
    if constexpr (is_wide || plays)
      if (ctx.team().broadcast(memory->phases.is_under_way)) return go_on(ctx, loop);
    auto found = ctx.team().broadcast(ctx.team().leader() ? loop.look() : state::waits);
    if constexpr (runs_here && detail::has_own_ticks<Stage>)
      while (found == state::waits && ask_for_tick(ctx, loop)) found = loop.look();
    if (found == state::waits) return;
    stage_context<Stage> c{ctx, *memory};
    if (found == state::over) return end(ctx, c, loop);
    auto const began = ctx.now_ns();
    if (ctx.team().leader()) now = loop.begin();
    ctx.team().sync();
    if constexpr (is_wide) {
      begin_phases(ctx, began);
      return begin_phase(ctx);
    } else if constexpr (plays) {
      if (begin_to_play(ctx, began)) return;
    }
    process(ctx, c, loop, began);
  }

  // Of a wide stage.
  RONDO_CALL RONDO_HD std::uint32_t tiles(context& ctx, next_phase const& p) requires is_wide {
    if (!is_present(ctx, p)) return 0;
    stage_context<Stage> c{ctx, *memory};
    std::uint32_t count = 0;
    if constexpr (runs_here) count = stage.tiles(c, now, p.phase);
    note_failure(ctx);
    return count;
  }
  RONDO_HD void tile(context& ctx, next_phase const& p, std::uint32_t number) requires is_wide {
    stage_context<Stage> c{ctx, *memory};
    if constexpr (runs_here) stage.tile(c, now, p.phase, number);
    if (ctx.failure() != errc::ok)  // relaxed: read by a later handler
      memory->tile_failure.store(static_cast<std::uint32_t>(ctx.failure()), memory_order::relaxed);
  }
  RONDO_CALL RONDO_HD void finish(context& ctx, next_phase const& p) requires is_wide {
    if (!is_present(ctx, p)) return;
    stage_loop loop{ctx, *memory};
    end_phase(ctx, loop);
  }

  Stage stage;
  stage_memory* memory;
  tick now;

 private:
  // The functions of a stage that works on the host are not compiled for a GPU.
#if defined(__CUDA_ARCH__)
  static constexpr bool runs_here = detail::works_where<Stage>() != works::on_host;
  static constexpr bool plays = false;
#else
  static constexpr bool runs_here = true;
  static constexpr bool plays = detail::lists_kernels<Stage>;
#endif
  static_assert(
      !requires { &Stage::kernels; } || detail::lists_kernels<Stage>,
      "a stage's `kernels` is void kernels(stage_context&, tick const&, kernel_list&), and that of a wide "
      "stage "
      "bool kernels(stage_context&, tick const&, std::uint32_t phase, kernel_list&)");

  RONDO_HD void begin_phases(context& ctx, std::uint64_t began) {
    if (ctx.team().leader()) memory->phases = {.began_ns = began, .is_under_way = true};
    ctx.team().sync();
  }
  /// With a tick in hand.
  RONDO_CALL RONDO_HD void go_on(context& ctx, stage_loop& loop) {
    if constexpr (plays)
      if (memory->phases.has_kernels_playing) return end_play(ctx, loop);
    if constexpr (is_wide) tell_phase(ctx);
  }

  // Of a wide stage.

  RONDO_CALL RONDO_HD void begin_phase(context& ctx) {
    if constexpr (plays)
      if (begin_to_play(ctx, memory->phases.began_ns)) return;
    tell_phase(ctx);
  }
  RONDO_CALL RONDO_HD void end_phase(context& ctx, stage_loop& loop) {
    if (memory->phases.phase + 1 == Stage::phases) {
      stage_context<Stage> c{ctx, *memory};
      return process(ctx, c, loop, memory->phases.began_ns);
    }
    ctx.team().sync();  // all lanes have read the phase
    if (ctx.team().leader()) ++memory->phases.phase, memory->phases.is_told = false;
    ctx.team().sync();
    begin_phase(ctx);
  }

  // Of a stage with kernels, on the host: one lane.

  /// False: they do not play here.
  RONDO_CALL RONDO_HD bool begin_to_play(context& ctx, std::uint64_t began) {
    auto* const list = memory->link != nullptr && ctx.team().lanes() == 1 ? memory->link->kernels() : nullptr;
    if (list == nullptr) return false;
    stage_context<Stage> c{ctx, *memory};
    bool plays_now = true;
    if constexpr (is_wide)
      plays_now = stage.kernels(c, now, memory->phases.phase, *list);
    else
      stage.kernels(c, now, *list);
    if (note_failure(ctx)) return true;
    if (!plays_now) return false;
    if constexpr (!is_wide) begin_phases(ctx, began);
    memory->phases.has_kernels_playing = true;
    memory->link->play();
    return true;
  }
  RONDO_CALL RONDO_HD void end_play(context& ctx, stage_loop& loop) {
    auto const outcome = memory->link->outcome();
    if (outcome == host_link::played::not_yet) return;
    memory->phases.has_kernels_playing = false;
    bool const is_whole =
        outcome == host_link::played::whole;  // if not, the GPU was lost: the same on the host
    if constexpr (is_wide) {
      return is_whole ? end_phase(ctx, loop) : tell_phase(ctx);
    } else {
      auto const began = memory->phases.began_ns;
      if (is_whole) return conclude(ctx, loop, began);
      stage_context<Stage> c{ctx, *memory};
      process(ctx, c, loop, began);
    }
  }

  RONDO_CALL RONDO_HD void process(context& ctx, stage_context<Stage>& c, stage_loop& loop,
                                   std::uint64_t began) {
    if constexpr (runs_here) stage.process(c, now);
    ctx.team().sync();  // what all lanes have written is passed on by one
    if (!note_failure(ctx)) conclude(ctx, loop, began);
  }
  RONDO_HD void conclude(context& ctx, stage_loop& loop, std::uint64_t began) {
    bool const waits = ctx.team().broadcast(ctx.team().leader() && memory->waits);
    if (ctx.team().leader()) memory->phases.is_under_way = false;
    if (waits && !ctx.team().broadcast(ctx.team().leader() && loop.put_off())) return;
    if (!waits && ctx.team().leader()) loop.conclude(now, began);
    ctx.again();
  }
  RONDO_HD bool note_failure(context& ctx) {
    if (!ctx.team().any(ctx.failure() != errc::ok)) return false;
    if (ctx.team().leader()) memory->counts.failure = static_cast<std::uint32_t>(ctx.failure());
    return true;
  }
  /// Whether the message is about the tick and the phase in hand, and not about an attempt that has failed.
  RONDO_HD bool is_present(context& ctx, next_phase const& p) const {
    auto const& at = memory->phases;
    return ctx.team().broadcast(at.is_under_way && at.is_told && p.number == now.number &&
                                p.attempt == memory->tried && p.phase == at.phase);
  }
  /// If there is no room for the message, tries again when there is.
  RONDO_CALL RONDO_HD void tell_phase(context& ctx) {
    auto const at = memory->phases;
    ctx.team().sync();
    if (at.is_told) return;
    next_phase const p{now.number, memory->tried, at.phase};
    if (ctx.tell(ctx.template self_as<stage_of>(), p, {.priority = phase_priority}) != errc::ok)
      return ctx.again();
    if (ctx.team().leader()) memory->phases.is_told = true;
    ctx.team().sync();
  }
  static constexpr std::uint8_t phase_priority =
      192;  // before what came meanwhile: a tick in hand is finished first

  /// Whether there is a tick now, or the source has ended. On the host, so there is one lane.
  RONDO_CALL RONDO_HD bool ask_for_tick(context& ctx, stage_loop& loop) {
    if (memory->link->is_paused() || !loop.wants_tick()) return false;
    stage_context<Stage> c{ctx, *memory};
    tick_due t{};
    bool const is_due = stage.due(c, t);
    if (is_due) loop.take_tick(t);
    return is_due || memory->is_done;
  }
  RONDO_CALL RONDO_HD void end(context& ctx, stage_context<Stage>& c, stage_loop& loop) {
    if constexpr (runs_here && requires(Stage s, stage_context<Stage> sc) { s.on_stop(sc); }) {
      stage.on_stop(c);
      if (ctx.team().any(ctx.failure() != errc::ok)) return;
    }
    if (ctx.team().leader()) loop.end();
    if (ctx.team().leader() && !loop.tell_end()) ctx.again();
    ctx.team().sync();
    answer_end(ctx);
  }
  RONDO_CALL RONDO_HD void answer_end(context& ctx) {
    if (!ctx.team().leader() || memory->counts.ended == 0 || !memory->ender.to.valid()) return;
    ctx.reply_to(memory->ender, memory->counts);
    memory->ender = {};
  }
};

/// Names a module of stages, with the actors that a graph needs. A module that also has other behaviours lists all of
/// them: RONDO_MODULE(name, stage_of<a>, b, streams::clock, streams::outlet, streams::inlet).
#define RONDO_STAGES(name, ...) using name = ::rondo::streams::module_of_stages<__VA_ARGS__>;

/// See RONDO_STAGES.
template <class... Stages>
using module_of_stages = module_of<stage_of<Stages>..., streams::clock, outlet, inlet>;

}  // namespace rondo::streams
