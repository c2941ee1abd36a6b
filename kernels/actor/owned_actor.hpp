// An actor as the team that owns it has it: its cell and mail ring, its counters, and what is done to it apart from
// handling mail: control, accounting, supervision, termination, release.
//
// Threads: the one team that owns the actor (W2). All of this is rare compared to handling mail, or runs once per
// slice.
#pragma once

#include "kernels/actor/lane_crew.hpp"

namespace rondo {

template <class Module>
class owned_actor {
 public:
  /// Precondition: the caller owns actor `at` (scheduler::claim).
  RONDO_HD owned_actor(scheduler& s, rondo::team const& t, host_port const& port, std::uint32_t at) noexcept
      : sched(s),
        arena(s.arena()),
        team(t),
        host(port),
        crew(s, t, port),
        index(at),
        cell(arena.cell(at)),
        own(arena.owner(cell)),
        self(id_in_one_word(at, cell.generation.load_own())),
        totals(own.totals.own()),
        turn(cell.turn),
        own_mail(turn.own_mail()) {
    look_at_word();
  }

  RONDO_HD priority_lists_ref priority_lists() const noexcept { return {arena, cell, own, ring}; }
  RONDO_HD lifecycle state() const noexcept { return lifecycle_; }
  RONDO_HD bool closing() const noexcept {
    return state() == lifecycle::terminating || state() == lifecycle::discarding;
  }
  /// Whether something comes before more mail. On a GPU its loads are of one trip.
  RONDO_HD bool is_interrupted() const noexcept {
    auto const stop = arena.header().stop.load(memory_order::relaxed);  // relaxed, both: requests
    auto const asked = own.control.load(memory_order::relaxed);
    return (stop | (asked & control_mask)) != 0;
  }
  RONDO_HD bool control_waits() const noexcept {
    return (own.control.load(memory_order::relaxed) & control_mask) != 0;  // relaxed: obey acquires
  }

  /// Loads the word, and adopts a ring that a sender may have attached.
  RONDO_HD actor_word look_at_word() noexcept {
    actor_word const word{cell.word.load(polling)};
    paused = word.has(actor_word::paused);
    has_ring = word.ring() != 0;
    if (!has_ring) return word;
    sched.adopt_ring(own, word);
    ring = arena.held_ring_at(word.ring());
    note_depth(word, own.head);
    return word;
  }

  RONDO_HD void note_depth() noexcept {
    if (!with_telemetry || !has_ring) return;
    auto const head = own.head;  // on a GPU both loads are of one trip
    note_depth(actor_word{cell.word.load(memory_order::relaxed)}, head);  // relaxed: a statistic
  }
  RONDO_HD void note_depth(actor_word word, std::uint32_t head) noexcept {
    if constexpr (!with_telemetry) return;
    auto const depth = (word.tail() - head) & ticket_mask;
    if (depth > totals.peak_depth) totals.peak_depth = depth;
  }

  // -- control

  /// Carries out the pending control operations. Afterwards `paused` and `state()` are up to date.
  RONDO_CALL RONDO_HD void obey() {
    // Acquire: pairs with scheduler::signal. The bit is cleared before control is read, so no signal is lost.
    cell.word.fetch_and(~actor_word::signalled, memory_order::acquire);
    auto const asked = own.control.exchange(control_for(self.generation, 0), memory_order::relaxed);
    if ((asked & control_construct) != 0) {
      if (auto const made = construct(); made != errc::ok) supervise(made, 0);
    } else if ((asked & control_start) != 0) {
      auto const started = crew.run({handler_call::what::start, index, 0, 0}, self, &own_mail);
      if (started.failure != errc::ok) supervise(started.failure, 0);
    }
    if ((asked & control_inspect) != 0) report_depths();
    if ((asked & control_again) != 0) own_mail |= own_again;
    if ((asked & control_room) != 0) own_mail |= own_room;
    if (state() == lifecycle::failed || state() == lifecycle::terminated) return;
    if ((asked & control_discard) != 0) return close_as(lifecycle::discarding);
    if ((asked & control_drain) != 0 && !closing()) return close_as(lifecycle::terminating);
    if (closing()) return;
    bool const sleeps_last = (asked & control_sleep_last) != 0;
    if ((asked & control_activate) != 0 && sleeps_last) set_active(true);
    if ((asked & control_deactivate) != 0) set_active(false);
    if ((asked & control_activate) != 0 && !sleeps_last) set_active(true);
  }

  /// Constructs a fresh state; on_start follows before the next message. If the constructor throws, the actor has no
  /// state, and must fail or try again.
  RONDO_HD errc construct() {
    own_mail = 0;  // the last state asked for it
    if (has_ring) priority_lists().unstash();
    context ctx{sched, team, host, self};
    message_header const none{};
    ctx.begin(none);
    detail::run_caught(ctx, [&] { Module::construct(cell.behaviour(), arena.state(cell)); });
    if (ctx.failure() == errc::ok && Module::has_start(cell.behaviour()))
      own.control.fetch_or(control_start, memory_order::relaxed);  // relaxed: read by this thread
    return ctx.failure();
  }

  RONDO_HD void set_active(bool active) {
    if (active)  // relaxed, both: release publishes what this owner did
      cell.word.fetch_and(~actor_word::paused, memory_order::relaxed);
    else
      cell.word.fetch_or(actor_word::paused, memory_order::relaxed);
    paused = !active;
    set_state(active ? lifecycle::active : lifecycle::deactivated);
  }

  RONDO_HD void set_state(lifecycle next) {
    lifecycle_ = next;
    cell.state.store(static_cast<std::uint32_t>(next),
                     memory_order::relaxed);  // relaxed: ownership orders it
    host.emit({.kind = event_kind::state_changed, .actor = self, .detail = static_cast<std::uint64_t>(next)});
  }

  /// Refuses new mail from now on. The following slices handle or discard the waiting messages.
  RONDO_CALL RONDO_HD void close_as(lifecycle next) {
    if (arena.has_gates()) cell.gate.close();
    cell.word.fetch_and(~(actor_word::open | actor_word::paused),
                        memory_order::relaxed);  // relaxed: as above
    look_at_word();
    if (next == lifecycle::discarding && has_ring) priority_lists().unstash();
    set_state(next);
  }

  RONDO_CALL RONDO_HD void report_depths() {
    // The host reads the counters once it has the report, so they must include this turn, in which a sender may have
    // attached a ring.
    sched.publish(own, look_at_word(), totals);
    device_event r{.kind = event_kind::depths, .actor = self};
    depth_page page{};
    if (has_ring) priority_lists().link_announced();
    auto const flush = [&](bool last) {
      r.detail = last;
      r.body.bytes = sizeof page;
      __builtin_memcpy(r.body.payload, &page, sizeof page);
      host.emit(r);
      page.count = 0;
    };
    for (std::uint32_t level = 256; level-- > 0 && has_ring;) {
      auto const messages = priority_lists().depth_of(level);
      if (messages == 0) continue;
      if (page.count == 11) flush(false);
      page.entries[page.count++] = {level, messages};
    }
    flush(true);
  }

  /// Handles one piece of mail that needs no slot, once the mailbox had its turn. Returns 1 if it did.
  RONDO_CALL RONDO_HD std::uint32_t handle_own_mail() {
    if (paused || closing() || control_waits()) return 0;
    bool const is_room = (own_mail & own_room) != 0;
    own_mail &= ~(is_room ? own_room : own_again);
    message_header h;
    h.type = is_room ? type_id<room> : type_id<again>;
    status.actor.store(index + 1, memory_order::relaxed);  // relaxed: only a report
    status.begin(h.type);
    auto const result = crew.run(
        {is_room ? handler_call::what::room : handler_call::what::again, index, 0, 0}, self, &own_mail);
    if (journal != 0) report(event_kind::handled, h, nullptr, result.failure, result.digest);
    if (result.failure != errc::ok) supervise(result.failure, h.type);
    return 1;
  }

  // -- message outcomes

  /// Sends the asker of `h` the reason why there is no answer.
  RONDO_CALL RONDO_HD void refuse(message_header const& h, errc reason) {
    context ctx{sched, team, host, self};
    ctx.begin(h);
    ctx.refuse({h.reply_to, h.correlation}, reason, h.type);
  }

  /// Completes a message without handling it: rejected if its sender waits for an answer, otherwise a dead letter.
  RONDO_CALL RONDO_HD void dispose(std::uint32_t ticket, errc reason) {
    message_slot const& slot = ring.slot(ticket);
    if (is_reported(slot.header)) report(event_kind::not_handled, slot.header, slot.payload, reason, 0);
    refuse_or_bury(slot.header, slot.payload, reason);
    priority_lists().take(ticket);
  }
  /// The same for a message outside the mailbox.
  RONDO_CALL RONDO_HD void refuse_or_bury(message_header const& h, std::byte const* payload, errc reason) {
    if ((h.flags & flag_wants_reply) != 0) {
      ++totals.rejected;
      return refuse(h, reason);
    }
    ++totals.dead;
    device_event r{
        .kind = event_kind::dead_letter, .reason = reason, .actor = self, .behaviour = cell.behaviour()};
    r.body.header = h;
    r.body.bytes = max_payload_bytes;
    __builtin_memcpy(r.body.payload, payload, max_payload_bytes);
    host.emit(r);
  }

  /// Whether a message's outcome is reported to the host.
  RONDO_HD bool is_reported(message_header const& h) const noexcept {
    return journal != 0 || (h.flags & flag_traced) != 0;
  }
  /// `payload`: null: the message has none.
  RONDO_CALL RONDO_HD void report(event_kind kind, message_header const& h, std::byte const* payload,
                                  errc reason, std::uint32_t digest) {
    device_event r{.kind = kind,
                   .reason = reason,
                   .actor = self,
                   .detail = now_ns(),
                   .behaviour = digest,
                   .team = team.index()};
    r.body.header = h;
    r.body.bytes = max_payload_bytes;
    if (payload != nullptr)
      __builtin_memcpy(r.body.payload, payload, max_payload_bytes);
    else
      __builtin_memset(r.body.payload, 0, max_payload_bytes);
    host.emit(r);
  }

  /// For the tag of a traced message.
  RONDO_CALL RONDO_HD void note_begun(std::uint32_t ticket) noexcept {
    auto tag = tag_behind(ring.slot(ticket).payload);
    tag.begun_ns = rondo::now_ns();
    put_tag(ring.slot(ticket).payload, tag);
  }

  RONDO_HD void record_latency(std::uint64_t ns) noexcept {
    own.latency.record(ns);
    totals.latency_sum_ns += ns;
    ++totals.latency_samples;
  }

  /// Stashes a message of the default priority outside the mailbox. False if that has no room: the handler may see the
  /// message once more. Precondition: the actor has a ring.
  RONDO_CALL RONDO_HD bool stash_direct(message const& m) {
    rondo::team const alone{team.index()};
    auto const r = sched.reserve_by_lanes(alone, self, m.header.priority, 1);
    if (r.status != errc::ok) return false;
    sched.fill_by_lanes(alone, r, 0, 1, [&m](std::uint32_t) -> message const& { return m; });
    priority_lists().stash(r.ticket);
    return true;
  }

  // -- supervision (G9)

  /// A handler failed on `ticket`, rejected, or stashed it: the message stays for another attempt after a restart,
  /// waits, or is completed.
  RONDO_CALL RONDO_HD void on_failed(std::uint32_t ticket, call_result const& result) {
    message_header& header = ring.slot(ticket).header;
    bool const waits = result.how >= unhandled::stashed;
    if (waits ? journal != 0 : is_reported(header))  // a trace shows a message once it ends
      report(event_kind::handled, header, ring.slot(ticket).payload, result.failure, result.digest);
    auto const final_reason =
        result.how == unhandled::failed ? judge(header, result.failure) : result.failure;
    if ((journal & journal_mute) != 0) {
      ++totals.dead;  // counted (G1), but no event: the recording contains any further attempt
      priority_lists().take(ticket);
    } else if (waits) {
      if (result.how == unhandled::stashed) priority_lists().stash(ticket);
    } else if (final_reason != errc::ok) {
      dispose(ticket, final_reason);
    }
  }
  /// Counts a failed attempt and applies the supervision rule. Returns why the message gets no other attempt; ok: it
  /// gets one.
  RONDO_HD errc judge(message_header& header, errc failure) {
    header.count_attempt();
    bool const last_try = header.attempts() >= cell.supervise.poison_after;
    if (!supervise(failure, header.type)) return failure;
    if (!last_try) return errc::ok;
    return cell.supervise.poison_after > 1 ? errc::quarantined : failure;
  }

  /// Restarts the actor with fresh state, deactivates it, or terminates it. True if it lives. `type`: of the failed
  /// message; 0: on_start.
  RONDO_CALL RONDO_HD bool supervise(errc failure, std::uint32_t type) {
    ++totals.failures;
    auto const report = [&](failure_action action) {
      device_event r;
      r.kind = event_kind::actor_failed;
      r.reason = failure;
      r.actor = self;
      r.detail = static_cast<std::uint64_t>(action);
      r.behaviour = cell.behaviour();
      r.team = team.index();
      r.body.header.type = type;
      host.emit(r);
    };
    if (cell.supervise.rule == on_failure::restart && may_restart()) {
      report(failure_action::restarted);
      own.control.fetch_or(control_construct, memory_order::relaxed);  // relaxed: read by this thread
      return true;
    }
    if (cell.supervise.rule == on_failure::ask_parent) {
      report(failure_action::left_to_parent);
      own.control.fetch_or(control_deactivate, memory_order::relaxed);  // relaxed: read by this thread
      return true;
    }
    report(cell.supervise.rule == on_failure::escalate ? failure_action::escalated : failure_action::stopped);
    close_as(lifecycle::discarding);
    return false;
  }

  RONDO_HD bool may_restart() noexcept {
    auto const now = static_cast<std::uint32_t>(now_ns() / 1'000'000);
    // Whole milliseconds would count some restarts within 0 ms: then each is alone.
    auto const within = cell.supervise.within_ms;
    if (within == 0 || now - cell.window_start_ms > within) {
      cell.window_start_ms = now;
      cell.window_restarts = 0;
    }
    if (cell.window_restarts >= cell.supervise.max_restarts) return false;
    ++cell.window_restarts;
    return true;
  }

  // -- termination and release

  /// Terminates a closing actor that has no mail left. True if the actor is gone: the caller no longer owns it.
  RONDO_CALL RONDO_HD bool end_when_empty() {
    std::uint64_t bits = 0;
    std::uint32_t held = 0;
    do {
      bits = cell.word.load(memory_order::relaxed);  // relaxed: close_as acquired the last ring
      held = actor_word{bits}.ring();
      if (held == 0) continue;
      sched.adopt_ring(own, actor_word{bits});
      if (auto const left = (actor_word{bits}.tail() - own.head) & ticket_mask; left != 0) {
        // If not, a sender is still writing.
        if (!priority_lists().has_more_than_stash(left)) close_as(lifecycle::discarding);
        return false;
      }
    } while (!sched.end_gate(cell, held, self.generation + 1));
    sched.publish(own, actor_word{bits}, totals, true);
    device_event r{.kind = event_kind::terminated, .actor = self, .behaviour = cell.behaviour()};
    r.body.bytes = sizeof totals;
    __builtin_memcpy(r.body.payload, &totals, sizeof totals);
    bool const pinned = actor_word{bits}.has(actor_word::pinned);
    own.held_ring.store(0, memory_order::relaxed);  // relaxed: the exchange below publishes
    own.control.store(control_for(self.generation + 1, 0),
                      memory_order::relaxed);  // a late control operation finds no actor
    cell.state.store(static_cast<std::uint32_t>(lifecycle::terminated), memory_order::relaxed);
    cell.generation.store(self.generation + 1, memory_order::relaxed);
    // Entries still in queues stay marked (W4); `paused` keeps a team that pops one from running a dead cell. Relaxed:
    // no thread reads the cell through this word; the host launches the successor after the event.
    while (!cell.word.compare_exchange(bits,
                                       actor_word{bits & actor_word::queued_mask}
                                           .with(actor_word::paused)
                                           .with_generation(self.generation + 1)
                                           .bits(),
                                       memory_order::relaxed, memory_order::relaxed)) {
    }
    if (held != 0 && arena.ring(held).dedicated == 0) push_free_ring(arena, held);
    if (pinned)  // before a successor can own the team
      arena.team(cell.team.load(memory_order::relaxed))
          .pinned_actor.store(0, memory_order::relaxed);  // relaxed, both: emit publishes
    notify_of_room(sched, self.index);
    host.emit(r);  // last: the host may give the cell to a successor at once
    return true;
  }

  /// Releases the actor. False if a control operation or mail came in: the caller still owns it.
  /// `may_stay`: the caller would rather have more mail.
  RONDO_CALL RONDO_HD bool release(bool may_stay = false) {
    if (control_waits()) return false;  // on_start after a restart, or a signal that is not in the word yet
    save_own_mail();
    auto const released = sched.release(index, totals, own_mail, may_stay);
    mail_left = released.mail_left;
    if (released.still_owned && mail_left) return look_at_word(), false;
    if (released.still_owned) {
      obey();  // even if control is empty: it may have been carried out before the signal reached the word
      return false;
    }
    if (released.room_wanted) tell_of_room();
    return true;
  }

  /// For the next owner.
  RONDO_HD void save_own_mail() noexcept {
    if (own_mail != turn.own_mail()) cell.turn = turn = turn_terms::of(turn.batch(), own_mail);
  }

  /// Notifies whoever waits for room in this mailbox. The caller may have released the actor.
  RONDO_CALL RONDO_HD void tell_of_room() {
    host.emit({.kind = event_kind::room, .actor = self});
    notify_of_room(sched, index);
  }

  scheduler& sched;
  arena_ref const arena;
  rondo::team const& team;
  host_port const& host;
  lane_crew<Module> crew;
  std::uint32_t index;
  actor_cell& cell;
  owner_cell& own;
  actor_id self;
  actor_totals totals;
  turn_terms turn;         // of the cell
  std::uint32_t own_mail;  // own_mail_bits
  run_status& status = status_of(arena, team);
  std::uint32_t const journal = arena.journal();
  mail_ring_ref ring{};
  bool has_ring = false, paused = false, mail_left = false;

 private:
  RONDO_HD static run_status& status_of(arena_ref const& arena, rondo::team const& t) noexcept {
    if constexpr (Module::has_lanes)
      if (t.place() != 0) return arena.lane(t.index(), t.place() - 1);
    return arena.team(t.index());
  }

  lifecycle lifecycle_ = static_cast<lifecycle>(cell.state.load_own());
};

}  // namespace rondo
