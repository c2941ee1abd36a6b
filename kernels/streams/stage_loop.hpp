// The work of every stage around `process`: it takes frames, decides whether a tick can be processed, passes frames on,
// wakes its neighbours.
//
// A stage processes a tick when
//   - each of its inputs with `every` or `lossless` has a frame, or, if it has no such input, an input with `latest`
//     has a new one; a stage with `takes_any` when one of them has; a source when a tick of the clock is due
//   - each reader with `lossless` has room, and each output a free block.
// If not, it will be woken: by news of an edge or of a block, or by a tick. A stage may put a tick off
// (stage_context::wait): then it is called again after any of them, or when its `host` wakes it.
//
// Threads: lane 0 of the team that runs the stage.
#pragma once

#include "kernels/actor/context.hpp"
#include "kernels/streams/stage_memory.hpp"

namespace rondo::streams {

class stage_loop {
 public:
  RONDO_HD stage_loop(context& ctx, stage_memory& memory) noexcept : ctx_(ctx), m_(memory) {}

  /// What a look at the edges has shown.
  enum class state : std::uint32_t { waits, ready, over };

  /// Takes what the edges have, and says whether a tick can be processed now.
  RONDO_CALL RONDO_HD state look() noexcept {
    for (std::uint32_t i = 0; i < m_.input_count; ++i)
      for (std::uint32_t e = 0; e < m_.inputs[i].count; ++e) m_.inputs[i].edges[e]->reader_looks();
    if (m_.counts.ended != 0) return give_up_rest(), state::waits;
    for (;;) {
      auto const found = is_source() ? look_for_tick() : look_for_frames();
      if (found != state::ready) return found;
      if (!outputs_have_room()) return state::waits;
      if (m_.tried < m_.attempts) return state::ready;
      give_up();
    }
  }

  /// The tick of the frames in hand, or the one that is due. Counts the attempt.
  RONDO_CALL RONDO_HD tick begin() noexcept {
    for (std::uint32_t i = 0; i < m_.output_count; ++i) discard(m_.outputs[i]);  // of an attempt that failed
    if (m_.tried++ != 0) ++m_.counts.failed;
    m_.waits = false;
    m_.origin = {};
    tick t;
    if (is_source()) {
      t.number = m_.next_number;
      auto const has_time = m_.period_ns != 0 || m_.step_ns != 0 || m_.has_own_ticks;
      auto const ahead = m_.due_number - 1 - t.number;  // the time is that of the newest tick that is due
      t.time_ns = has_time ? m_.due_time_ns - ahead * m_.step_ns : ctx_.now_ns();
    } else {
      frame const& f = trigger();
      t.number = f.number;
      t.time_ns = f.time_ns;
      t.origin = m_.origin = f.origin;
    }
    t.since_ns = m_.has_processed && t.time_ns > m_.last_time_ns ? t.time_ns - m_.last_time_ns : 0;
    t.deadline_ns = m_.period_ns != 0 ? t.time_ns + m_.period_ns : 0;
    return t;
  }

  /// The tick was processed: passes on what was written, and gives up what was read.
  RONDO_CALL RONDO_HD void conclude(tick const& t, std::uint64_t began_ns) noexcept {
    auto const now = ctx_.now_ns(), took = now - began_ns;
    for (std::uint32_t i = 0; i < m_.output_count; ++i)
      if (output_state const& o = m_.outputs[i]; o.has && o.edits != 0)
        m_.inputs[o.edits - 1].has = false;  // its use goes on
    give_up_read();  // first, so that a reader may find that nobody else uses what it gets
    for (std::uint32_t i = 0; i < m_.output_count; ++i) pass_on(m_.outputs[i], t);
    stage_counts& c = m_.counts;
    ++c.processed;
    c.busy_ns += took;
    if (took > c.longest_ns) c.longest_ns = took;
    c.last_number = t.number;
    if (t.deadline_ns != 0 && now > t.deadline_ns) ++c.late;
    m_.has_processed = true;
    m_.last_time_ns = t.time_ns;
    m_.tried = 0;
    if (is_source()) m_.next_number = t.number + 1;
    if (m_.is_sink) tell_clock(t.number);
    if (m_.slow_ns != 0 && took > m_.slow_ns && now - m_.warned_ns > 1'000'000'000) {
      m_.warned_ns = now;
      ctx_.log(log_level::warning, "tick {} took {} us, longer than {} us", t.number, took / 1000,
               m_.slow_ns / 1000);
    }
  }

  /// The stage waits with this tick: discards what was written, and keeps what was read. True: it is a source that has
  /// come to its end, by itself or because the graph stops.
  RONDO_CALL RONDO_HD bool put_off() noexcept {
    for (std::uint32_t i = 0; i < m_.output_count; ++i) discard(m_.outputs[i]);
    if (--m_.tried != 0) --m_.counts.failed;  // the failed attempt was counted by the one that waits
    if (!is_source()) return m_.tells != stage_memory::ending::none;
    if (m_.is_stopping) {
      m_.is_done = true;
      m_.due_number = m_.next_number;
    }
    return m_.is_done && m_.due_number == m_.next_number;
  }

  /// Nothing more comes: gives up what it holds, and tells its readers.
  RONDO_CALL RONDO_HD void end() noexcept {
    for (std::uint32_t i = 0; i < m_.output_count; ++i) discard(m_.outputs[i]);
    for (std::uint32_t i = 0; i < m_.input_count; ++i) give_up_frame(m_.inputs[i]);
    give_up_rest();  // news of these frames may have come already
    m_.counts.ended = 1;
    if (m_.is_sink && m_.tells == stage_memory::ending::none) m_.tells = stage_memory::ending::sink;
    for (std::uint32_t i = 0; i < m_.output_count; ++i)
      each_edge(m_.outputs[i], [this](edge& e) {
        e.end();
        wake_reader(e);
      });
  }

  /// Tells the clock that the graph is to end, or that this sink has ended, if it is so. False: its mailbox is full;
  /// try again.
  RONDO_CALL RONDO_HD bool tell_end() noexcept {
    using ending = stage_memory::ending;
    if (m_.tells == ending::none) return true;
    auto const outcome =
        m_.tells == ending::sink ? send(m_.clock, sink_ended{m_.sink}) : send(m_.clock, end_graph{});
    if (outcome == errc::mailbox_full || outcome == errc::arena_full) return false;
    m_.tells = ending::none;
    return true;
  }

  /// Of a source.
  RONDO_CALL RONDO_HD void tick_is_due(tick_due const& t) noexcept {
    if (m_.is_done) return;
    // At a set rate, a source that is late goes on with the newest tick.
    if (m_.period_ns != 0 && m_.due_number > m_.next_number && m_.tried == 0) {
      m_.counts.skipped += m_.due_number - m_.next_number;
      m_.next_number = m_.due_number;
    }
    if (m_.due_number == m_.next_number) m_.next_number = t.number;  // the clock may have skipped some itself
    m_.due_number = t.number + 1;
    m_.due_time_ns = t.time_ns;
  }

  /// Of a source with ticks of its own: whether it may make the next one.
  RONDO_CALL RONDO_HD bool wants_tick() noexcept {
    return m_.counts.ended == 0 && !m_.is_done && m_.next_number >= m_.due_number && outputs_have_room();
  }
  RONDO_CALL RONDO_HD void take_tick(tick_due const& t) noexcept {
    m_.next_number = t.number;
    m_.due_number = t.number + 1;
    m_.due_time_ns = t.time_ns;
    if (++m_.own_ticks == m_.own_tick_limit) m_.is_done = true;  // after this one
  }

  /// Takes what the edges have, unless a tick is under way, without a promise to be woken: look again afterwards.
  RONDO_CALL RONDO_HD stage_progress progress() noexcept {
    stage_progress p{.next_number = m_.next_number,
                     .own_ticks = m_.own_ticks,
                     .processed = m_.counts.processed,
                     .is_busy = 0,
                     .is_ending = m_.is_done || m_.counts.ended != 0};
    if (m_.counts.ended == 0)
      p.is_busy =
          m_.phases.is_under_way || (is_source() ? look_for_tick() : look_for_frames()) == state::ready;
    return p;
  }

  /// Whether each output has a free block, and each reader with `lossless` has room. If not, the stage will be woken.
  RONDO_CALL RONDO_HD bool outputs_have_room() noexcept {
    for (std::uint32_t i = 0; i < m_.output_count; ++i) {
      output_state& o = m_.outputs[i];
      if (!o.has && !o.pool->has_free() && o.pool->wait_for_block()) return false;
      for (std::uint32_t r = 0; r < o.count; ++r) {
        edge& e = *o.readers[r].edges[o.readers[r].turn];
        if (e.how() == delivery::lossless && !e.has_room() && e.wait_for_room()) return false;
      }
    }
    return true;
  }

 private:
  RONDO_HD bool is_source() const noexcept {
    for (std::uint32_t i = 0; i < m_.input_count; ++i)
      if (m_.inputs[i].count != 0) return false;
    return true;
  }
  RONDO_HD static bool is_queue(input_state const& in) noexcept {
    return in.edges[0]->how() != delivery::latest;
  }

  RONDO_HD state look_for_tick() const noexcept {
    if (m_.next_number < m_.due_number) return state::ready;
    return m_.is_done ? state::over : state::waits;
  }
  RONDO_HD state look_for_frames() noexcept {
    if (m_.is_done) return state::over;
    bool any_queue = false, all_there = true, any_there = false, any_new = false, queue_over = false,
         queues_over = true, all_over = true;
    for (std::uint32_t i = 0; i < m_.input_count; ++i) {
      input_state& in = m_.inputs[i];
      if (in.count == 0) continue;
      bool const over = !fetch(in);
      if (is_queue(in)) {
        any_queue = true;
        all_there = all_there && in.has;
        any_there = any_there || in.has;
        queue_over = queue_over || (over && !in.has);
        queues_over = queues_over && over && !in.has;
      } else {
        any_new = any_new || (in.has && in.is_new);
        all_over = all_over && over;
      }
    }
    if (m_.takes_any) {
      if (any_there || any_new) return state::ready;
      return queues_over && all_over ? state::over : state::waits;
    }
    if (any_queue ? all_there : any_new) return state::ready;
    return (any_queue ? queue_over : all_over) ? state::over : state::waits;
  }
  /// Takes the input's next frame, if it needs one. False: there is none, and none will come.
  RONDO_HD bool fetch(input_state& in) noexcept {
    bool const queue = is_queue(in);
    while (!queue || !in.has) {
      edge& e = *in.edges[in.turn];
      bool const over = e.ended();
      bool writer_waits = false;
      frame next;
      if (!e.take(next, writer_waits)) return !over;
      if (writer_waits) wake(e.writer);
      if (++in.turn == in.count) in.turn = 0;
      if (next.is_gap()) continue;
      if (in.has && in.is_new) ++m_.counts.replaced;
      give_up_frame(in);
      in.now = next;
      in.has = in.is_new = true;
    }
    return true;
  }
  RONDO_HD frame const& trigger() const noexcept {
    std::uint32_t best = 0;
    bool found = false;
    for (std::uint32_t i = 0; i < m_.input_count; ++i) {
      input_state const& in = m_.inputs[i];
      if (in.count == 0 || !in.has || (!is_queue(in) && !in.is_new)) continue;
      if (is_queue(in)) return in.now;
      if (!found || in.now.number > m_.inputs[best].now.number) best = i;
      found = true;
    }
    return m_.inputs[best].now;
  }

  RONDO_HD void pass_on(output_state& o, tick const& t) noexcept {
    bool const has = o.has;
    if (has) {
      o.next.number = t.number;
      o.next.time_ns = t.time_ns;
      o.next.origin = m_.origin;
      o.has = false;
      o.edits = 0;
      if (o.count == 0) return give_up_use(o.next);
      if (o.count > 1) o.next.pool->add_uses(o.next.block, o.count - 1);
    } else if (!m_.is_replica) {
      return;
    }
    frame const gap{.number = t.number, .time_ns = t.time_ns};
    for (std::uint32_t r = 0; r < o.count; ++r) put(o.readers[r], has ? o.next : gap);
  }
  RONDO_HD void put(reader_edges& to, frame const& f) noexcept {
    edge& e = *to.edges[to.turn];
    frame older;
    auto const outcome = e.put(f, older);
    if (outcome == edge::outcome::refused) {
      ++m_.counts.dropped;
      return give_up_use(f);
    }
    if (outcome == edge::outcome::replaced) {
      ++m_.counts.replaced;
      give_up_use(older);
    }
    if (++to.turn == to.count) to.turn = 0;
    wake_reader(e);
  }

  /// A stage that has ended, perhaps before its inputs, does not hold up those that write to it.
  RONDO_HD void give_up_rest() noexcept {
    for (std::uint32_t i = 0; i < m_.input_count; ++i)
      for (std::uint32_t e = 0; e < m_.inputs[i].count; ++e) {
        edge& from = *m_.inputs[i].edges[e];
        bool writer_waits = false;
        for (frame f; from.take(f, writer_waits);) {
          give_up_use(f);
          if (writer_waits) wake(from.writer);
        }
      }
  }
  /// After the last attempt.
  RONDO_HD void give_up() noexcept {
    ++m_.counts.failed;
    ++m_.counts.skipped;
    m_.tried = 0;
    for (std::uint32_t i = 0; i < m_.output_count; ++i) discard(m_.outputs[i]);
    if (is_source()) {
      ++m_.next_number;
    } else {
      auto const number = trigger().number, time_ns = trigger().time_ns;
      if (m_.is_replica)
        for (std::uint32_t i = 0; i < m_.output_count; ++i)
          pass_on(m_.outputs[i], {.number = number, .time_ns = time_ns});
      if (m_.is_sink) tell_clock(number);
    }
    give_up_read();
  }
  RONDO_HD void give_up_read() noexcept {
    for (std::uint32_t i = 0; i < m_.input_count; ++i) {
      input_state& in = m_.inputs[i];
      if (in.count == 0) continue;
      if (is_queue(in)) give_up_frame(in);
      in.is_new = false;
    }
  }
  RONDO_HD void give_up_frame(input_state& in) noexcept {
    if (in.has) give_up_use(in.now);
    in.has = false;
  }
  RONDO_HD void discard(output_state& o) noexcept {
    if (o.has && o.edits == 0) give_up_use(o.next);
    o.has = false;
    o.edits = 0;
  }
  RONDO_HD void give_up_use(frame const& f) noexcept {
    if (!f.is_gap() && f.pool->end_use(f.block) && !(f.pool->owner == ctx_.self())) wake(f.pool->owner);
  }

  template <class F>
  RONDO_HD void each_edge(output_state& o, F const& f) noexcept {
    for (std::uint32_t r = 0; r < o.count; ++r)
      for (std::uint32_t e = 0; e < o.readers[r].count; ++e) f(*o.readers[r].edges[e]);
  }
  RONDO_HD void wake_reader(edge& e) noexcept {
    if (e.wants_reader()) wake(e.reader);
  }
  /// Stages have mailboxes of their own, so they are gone, or full: then a stage looks at its edges after each message
  /// anyway.
  RONDO_HD void wake(actor_id who) noexcept { static_cast<void>(send(who, news{})); }
  RONDO_HD void tell_clock(std::uint64_t number) noexcept {
    // One that finds no room does no harm: the clock goes on by later ones, or by its own time.
    static_cast<void>(send(m_.clock, tick_done{number, m_.sink}));
  }

  /// As context::tell, which needs all lanes.
  template <class Message>
  RONDO_HD errc send(actor_id to, Message const& m) noexcept {
    message_header h;
    h.type = type_id<Message>;
    return ctx_.post(to, h, &m, sizeof m);
  }

  context& ctx_;
  stage_memory& m_;
};

}  // namespace rondo::streams
