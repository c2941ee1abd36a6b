// The clock of a graph: an actor that tells sources that a tick is due, at a set rate or as fast as the sinks take
// them. It also watches all actors of the graph.
//
// At a set rate, if paced, the host sends a `beat` in each period, or for several short ones together. Otherwise a tick
// is due while fewer than `window` are on their way: sinks say which they have done. A tick that never reaches a sink,
// because its frame was dropped, does not stop the clock: a later one does reach it, and if not, a `beat` of the host
// makes a tick when none was made since the last beat. Sources with ticks of their own get none, and without others the
// clock makes none.
#pragma once

#include "kernels/actor/module.hpp"
#include "kernels/streams/stage_memory.hpp"

namespace rondo::streams {

/// To the clock, from the host: time has passed.
struct beat {
  std::uint32_t ticks = 1;  // that are due, at a set rate
};
/// To the clock: begins.
struct start_clock {};
/// Stops the clock, and then the sources.
struct stop_clock {};
/// The clock makes no ticks from now on, or makes ticks again.
struct pause_clock {
  bool paused;
};
/// Answered when an actor of the graph has ended for another reason than the graph's end.
struct await_failure {};
struct stage_failure {
  actor_id who;
  errc reason;
};
/// How many ticks were made.
struct ticks_made {
  std::uint64_t count;
};

/// What the clock keeps outside its state.
struct clock_memory {
  actor_id* sources = nullptr;
  std::uint64_t* done = nullptr;  // of each sink: ticks up to this number, not with it, are done
  std::uint64_t least_done = 0;   // the least of them, unless at_least is 0
  std::uint32_t at_least = 0;     // how many sinks are there; 0: not counted
  actor_id* actors = nullptr;     // all stages, and the ends of transfers
  std::uint32_t source_count = 0, sink_count = 0, actor_count = 0;
  std::uint32_t ticked_count = 0;  // of the sources, the first so many; the others have ticks of their own
  std::uint64_t period_ns = 0;     // 0: as fast as the sinks take them
  std::uint64_t step_ns = 0;   // without a period: between the times of two ticks; 0: they are when they are
  std::uint64_t began_ns = 0;  // with step_ns: the time of tick 0
  std::uint64_t window = 4;
  std::uint64_t limit = 0;  // so many ticks; 0: until it is stopped

  std::uint64_t made = 0, made_at_beat = 0;
  bool runs = false, stops = false;
  bool paused = false;        // it makes no ticks, until it is told to
  std::uint32_t stopped = 0;  // sources that have been told
  stage_failure failure{};    // the first one
  bool has_failed = false;
  reply_token asker{};  // of await_failure
};

struct clock {
  static constexpr bool saved_apart = true;  // as a stage
  struct arguments {
    clock_memory* memory;
  };
  using messages = rondo::messages<start_clock, beat, tick_done, sink_ended, end_graph, room, ended,
                                   ask<stop_clock, ticks_made>, ask<pause_clock, ticks_made>,
                                   ask<await_failure, stage_failure>>;

  RONDO_HD void on_start(context&, arguments const& a) { memory = a.memory; }
  RONDO_HD void on(context& ctx, start_clock const&) {
    for (std::uint32_t i = 0; i < memory->actor_count; ++i) ctx.watch(memory->actors[i]);
    memory->runs = memory->ticked_count != 0;
    memory->began_ns = ctx.now_ns() - memory->made * memory->step_ns;
    if (memory->period_ns == 0) go_on(ctx);
  }
  RONDO_HD void on(context& ctx, beat const& m) {
    bool const stands = memory->made == memory->made_at_beat;
    memory->made_at_beat = memory->made;
    auto const due = memory->period_ns != 0 ? m.ticks : stands ? 1u : 0u;
    for (std::uint32_t i = 0; i < due; ++i) make(ctx);
    memory->made_at_beat = memory->made;
  }
  RONDO_HD void on(context& ctx, tick_done const& t) {
    set_done(t.sink, t.number + 1);
    if (memory->period_ns == 0) go_on(ctx);
  }
  RONDO_HD void on(context& ctx, room const&) { stop_sources(ctx); }
  RONDO_HD ticks_made on(context& ctx, stop_clock const&) {
    stop(ctx);
    return {memory->made};
  }
  RONDO_HD void on(context& ctx, sink_ended const& m) {
    set_done(m.sink, ~0ull);
    if (all_done() == ~0ull) stop(ctx);
  }
  /// The next tick has the number after the last one, so what did not happen while it was paused is not skipped.
  RONDO_HD ticks_made on(context& ctx, pause_clock const& m) {
    memory->paused = m.paused;
    if (memory->period_ns == 0) go_on(ctx);
    return {memory->made};
  }
  RONDO_HD void on(context& ctx, end_graph const&) { stop(ctx); }
  RONDO_HD void on(context& ctx, ended const& m) {
    if (!memory->has_failed) memory->failure = {m.who, m.reason};
    memory->has_failed = true;
    tell_failure(ctx);
  }
  RONDO_HD void on(context& ctx, await_failure const&) {
    memory->asker = ctx.defer();
    tell_failure(ctx);
  }

 private:
  RONDO_HD void tell_failure(context& ctx) {
    if (!memory->has_failed || !memory->asker.to.valid()) return;
    ctx.reply_to(memory->asker, memory->failure);
    memory->asker = {};
  }
  RONDO_HD void set_done(std::uint32_t sink, std::uint64_t done) {
    auto& before = memory->done[sink];
    if (done <= before) return;
    if (memory->at_least != 0 && before == memory->least_done) --memory->at_least;
    before = done;
  }
  /// Ticks up to this number, not with it, are done by all sinks. Looks at them only when the last of the slowest ones
  /// has gone on: once a tick, not once a message.
  RONDO_HD std::uint64_t all_done() {
    if (memory->at_least != 0) return memory->least_done;
    memory->least_done = ~0ull;
    for (std::uint32_t i = 0; i < memory->sink_count; ++i) {
      auto const done = memory->done[i];
      if (done < memory->least_done) memory->least_done = done, memory->at_least = 0;
      if (done == memory->least_done) ++memory->at_least;
    }
    return memory->least_done;
  }
  RONDO_HD void go_on(context& ctx) {
    auto const done = all_done();
    while (memory->runs && memory->made < done + memory->window)
      if (!make(ctx)) return;
  }
  /// False: it has stopped, or is paused, or a source has no room in its mailbox.
  RONDO_HD bool make(context& ctx) {
    if (!memory->runs || memory->paused) return false;
    tick_due const t{memory->made,
                     memory->step_ns != 0 ? memory->began_ns + memory->made * memory->step_ns : ctx.now_ns()};
    bool all = true;
    for (std::uint32_t i = 0; i < memory->ticked_count; ++i)
      all = ctx.tell(address<any_that_takes<tick_due>>{memory->sources[i]}, t) == errc::ok && all;
    ++memory->made;
    if (memory->limit != 0 && memory->made >= memory->limit) return stop(ctx), false;
    return all;
  }
  RONDO_HD void stop(context& ctx) {
    memory->runs = false;
    memory->stops = true;
    stop_sources(ctx);
  }
  RONDO_HD void stop_sources(context& ctx) {
    for (; memory->stops && memory->stopped < memory->source_count; ++memory->stopped) {
      address<any_that_takes<stop_source>> const to{memory->sources[memory->stopped]};
      auto const outcome = ctx.tell(to, stop_source{});
      if (outcome == errc::mailbox_full || outcome == errc::arena_full) return ctx.when_room(to);
    }
  }

  clock_memory* memory;
};

}  // namespace rondo::streams
