// A slice, one turn of one actor: obey control, handle up to a quota of messages, count them, release the actor.
//
// Threads: lane 0 of the team that owns the actor. A wide message may complete on another team than the one that began it;
// ownership then passes to that team.
#pragma once

#include "kernels/actor/actor_owner.hpp"

namespace rondo {

template <class Module>
class slice : private actor_owner<Module> {
  using base = actor_owner<Module>;
  using base::arena_, base::cell_, base::crew_, base::host_, base::index_, base::ring_, base::scheduler_,
      base::self_, base::team_, base::totals_, base::own_mail_, base::has_ring_, base::journal_,
      base::paused_, base::priority_lists;

 public:
  using base::base;

  /// Runs the actor until it has no mail, or for `quotas` quotas; for one quota if other actors wait for the team.
  /// Returns the number of completed messages.
  RONDO_HD std::uint32_t run(std::uint32_t quotas) {
    this->note_depth();
    return run_rest(0, quotas * quota_);
  }

  /// Continues with the actor after the last tile of the wide message `ticket`.
  RONDO_CALL RONDO_HD std::uint32_t resume(std::uint32_t ticket, errc failure) {
    end_wide(ticket, failure);
    return run_rest(1, quota_);
  }

  /// A pinned team's turn: handles the mail that has arrived and keeps the actor. False once the actor is gone.
  RONDO_HD bool poll(std::uint32_t& dealt) {
    for (dealt = 0; dealt < quota_;) {
      auto const seen = look();
      if (seen == sight::other || (seen == sight::nothing && own_mail_ != 0)) break;
      if (seen == sight::nothing) {
        // On a GPU a look takes no cache line from the sender.
        if (std::uint32_t ticket; threads_park && dealt != 0 && linger(ticket, dealt)) continue;
        return true;
      }
      if (dealt == 0) show_running();
      auto const n = deal_with(next_, quota_ - dealt);
      next_ = (next_ + n) & ticket_mask;
      dealt += n;
    }
    if (this->control_waits()) show_running(), this->obey();
    if (!has_ring_) this->look_at_word();
    if (!paused_) dealt += handle_mail(quota_ - dealt);
    if (own_mail_ != 0) dealt += this->handle_own_mail();
    knows_next_ = false;
    if (!this->closing()) return true;
    show_running();
    return !this->end_when_empty();
  }
  /// Handles a message that has come to a pinned team by its direct ring, without a mailbox, if it is the next one anyway: no mail
  /// waits, and its handler takes one message at a time, on one lane. Otherwise false: it belongs in the mailbox.
  RONDO_HOT RONDO_HD bool handle_now(actor_id to, message& m) {
    message_header& h = m.header;
    prefetch(state_);
    auto const seen = look<memory_order::relaxed>();  // no mail: so there is none to acquire
    bool const plain = (h.flags & ~flag_wants_reply) == 0 && h.priority == default_priority &&
                       journal_ == 0 && alone_ && to == self_;
    if (!plain || seen != sight::nothing) return false;
    auto const began_ns = h.deadline != 0 || is_sampled() ? rondo::now_ns() : 0;
    if (h.deadline != 0 && h.expired(began_ns)) return false;
    show_running();
    status_.begin(h.type);
    context_.begin(h);
    if (Module::handle_one(behaviour_, state_, context_, m) != handler_kind::one) return false;
    if (context_.failure() != errc::ok) [[unlikely]]
      return conclude_failed(m);
    if (is_sampled())
      this->record_latency(h.stamped() ? h.age_ns(rondo::now_ns()) : rondo::now_ns() - began_ns);
    ++totals_.accepted;
    ++totals_.handled;
    if ((h.flags & flag_wants_reply) != 0 && !context_.answered()) this->refuse(h, errc::no_reply);
    return true;
  }

  /// A pinned team releases its actor before it sleeps. False if a signal came in. `mail_left`: there is mail that the
  /// team has not seen and whose sender will not ring the doorbell.
  RONDO_HD bool release(bool& mail_left) {
    bool const left = base::release();
    knows_next_ = false;
    mail_left = this->mail_left_;
    return left;
  }
  /// Publishes the counters of an actor that a team keeps, and notifies the host of room if a sender waits for it.
  RONDO_CALL RONDO_HD void show(bool counters = true) {
    actor_word const word{cell_.word.load(memory_order::acquire)};
    if (counters) scheduler_.publish(cell_, word, totals_);
    if (!word.has(actor_word::room_wanted)) return;
    if (this->has_ring_ && this->priority_lists().stash_leaves_no_room(word)) return;
    cell_.word.fetch_and(~actor_word::room_wanted, memory_order::relaxed);  // relaxed: only bits
    this->tell_of_room();
  }

  /// The most messages of one slice.
  RONDO_HD std::uint32_t quota() const noexcept { return quota_; }

  /// Runs one claimed tile of a job. True if the caller now owns the actor and must `resume`
  /// it.
  RONDO_CALL RONDO_HD static bool run_tile(lane_crew<Module> const& crew, wide_job& job, std::uint32_t tile,
                                           actor_id self) {
    bool const stays = job.stays;  // read before the job can complete
    auto const result = crew.run({handler_call::what::tile, job.actor, job.ticket, tile}, self);
    std::uint32_t none = 0;
    if (result.failure != errc::ok)  // relaxed: ordered by finish_one
      job.failure.compare_exchange(none, static_cast<std::uint32_t>(result.failure), memory_order::relaxed,
                                   memory_order::relaxed);
    return job.finish_one() && !stays;
  }
  /// Frees a job whose tiles are all finished. Returns the first failure that they reported.
  RONDO_HD static errc close(arena_ref const& arena, wide_job& job) noexcept {
    auto const failure = static_cast<errc>(job.failure.load(memory_order::relaxed));
    arena.header().open_jobs.fetch_sub(1, memory_order::relaxed);  // relaxed: a hint
    job.release();
    return failure;
  }

 private:
  /// What a pinned team sees of its actor: nothing new; mail, and nothing that comes before it; or something else.
  enum class sight { nothing, mail, other };

  /// One look of a pinned team. On a GPU it takes as long as one load, because none of its loads depends on another.
  template <memory_order Order = memory_order::acquire>
  RONDO_HOT RONDO_HD sight look() noexcept {
    if (!knows_next_) {
      knows_next_ = true;
      next_ = cell_.head;
      in_turn_ = has_ring_ && !paused_ && !this->closing() && priority_lists().in_order();
    }
    if (!in_turn_) return sight::other;
    // Relaxed, both: obey acquires, and a thread that sees a commit also sees that it was announced.
    auto const control = cell_.control.load(memory_order::relaxed);
    auto const announced = cell_.announced.load(memory_order::relaxed);
    bool const mail = ring_.committed(next_, Order);
    if ((control & control_mask) != 0 || announced != 0) return sight::other;
    if (!mail || Order == memory_order::relaxed) return mail ? sight::mail : sight::nothing;
    return priority_lists().has_default_priority(next_) ? sight::mail : sight::other;
  }

  RONDO_HD std::uint32_t run_rest(std::uint32_t dealt, std::uint32_t most) {
    auto quota = quota_;
    bool went_on = false;
    while (!handed_over_) {
      if (this->control_waits()) this->obey();
      if (!paused_ && dealt < quota) dealt += handle_mail(quota - dealt);
      if (handed_over_) break;
      if (this->closing() && this->end_when_empty()) break;
      // Once at least: mail that never ends is not to keep it waiting. Not again beyond the quota: then others have their turn.
      if (own_mail_ != 0 && (dealt < quota || !went_on)) {
        went_on = true;
        dealt += this->handle_own_mail();
        if (own_mail_ != 0 && dealt < quota && !scheduler_.sees_work() && !arena_.stopping()) continue;
      }
      if (dealt >= quota && quota < most && !scheduler_.sees_work()) {
        // Releasing the actor and claiming it again would take the word from its senders twice.
        show(with_telemetry);  // without telemetry, the totals wait for the release
        quota += quota_;
        continue;
      }
      if (base::release()) break;
    }
    return dealt;
  }

  RONDO_HOT RONDO_HD std::uint32_t handle_mail(std::uint32_t quota) {
    std::uint32_t dealt = 0;
    discarding_ = this->state() == lifecycle::discarding;
    while (has_ring_ && dealt < quota && !handed_over_ && !arena_.stopping() && !this->control_waits()) {
      std::uint32_t ticket = 0;
      if (!priority_lists().pick(ticket) && !(dealt != 0 && linger(ticket, dealt))) break;
      if (dealt == 0) show_running();
      dealt += deal_with(ticket, quota - dealt);
    }
    return dealt;
  }

  /// Reports this actor as running. (A pinned team reports none while it waits for mail.)
  RONDO_HD void show_running() noexcept {
    status_.actor.store(index_ + 1, memory_order::relaxed);  // relaxed: only a report
  }

  /// Waits briefly for more mail while no other actor needs the team. For a busy sender this is cheaper than
  /// scheduling the actor for each message. Each look takes the cache line from the sender. So the more messages
  /// a pause brought, the longer the next pause, and a single answer is still seen soon.
  RONDO_HD bool linger(std::uint32_t& ticket, std::uint32_t dealt) {
    auto& pauses = scheduler_.linger_pauses;
    if (pauses == 0 || scheduler_.keeps_actor()) return false;
    auto const brought = dealt - dealt_at_linger_;
    dealt_at_linger_ = dealt;
    if (brought > 2 && pauses < 256) pauses *= 2;
    if (brought < 2 && pauses > 2) pauses /= 2;
    for (int look = 0; look < linger_looks && !scheduler_.sees_work(); ++look) {
      for (std::uint32_t i = 0; i < pauses; ++i) relax();
      if (priority_lists().pick(ticket)) return true;
    }
    return false;
  }

  /// Handles or disposes of the message `ticket` (and, for a batch handler, its neighbours).
  RONDO_HOT RONDO_HD std::uint32_t deal_with(std::uint32_t ticket, std::uint32_t quota) {
    message_slot const& slot = ring_.slot(ticket);
    message_header const& h = slot.header;
    prefetch_for(ticket, quota);
    if (discarding_) [[unlikely]]
      return dispose(ticket, errc::terminated), 1;
    if (h.deadline != 0 && h.expired(rondo::now_ns())) [[unlikely]]
      return dispose(ticket, errc::timed_out), 1;
    status_.begin(h.type);
    if ((h.flags & flag_traced) != 0) [[unlikely]]
      this->note_begun(ticket);
    handler_kind kind;
    call_result result;
    if (alone_) {  // the common case, kept short
      context_.begin(h);
      kind = Module::handle_one(behaviour_, state_, context_, slot);
      result = {context_.failure(), context_.answered(), context_.how(), 0, context_.digest()};
    } else {
      kind = Module::kind_of(behaviour_, h.type);
      if (kind == handler_kind::one)
        result = crew_.run({handler_call::what::one, index_, ticket, 1}, self_, &own_mail_);
    }
    if (kind == handler_kind::one) return conclude_one(ticket, h, result), 1;
    if (kind == handler_kind::none) return dispose(ticket, errc::unknown_message), 1;
    if (kind == handler_kind::wide) return begin_wide(ticket), 1;
    std::uint32_t const count = run_length(ticket, quota);
    conclude_run(ticket, count,
                 crew_.run({handler_call::what::batch, index_, ticket, count}, self_, &own_mail_));
    return count;
  }

  RONDO_HOT RONDO_HD void prefetch_for(std::uint32_t ticket,
                                       [[maybe_unused]] std::uint32_t quota) const noexcept {
#if defined(__CUDA_ARCH__)
    // What the handler will need comes together with the header. Later messages would not stay: the next look acquires.
    prefetch(ring_.slot(ticket).payload);
    prefetch(state_);
#else
    if (quota == quota_) return;  // the first message is often the only one
    prefetch(&ring_.slot(ticket + prefetch_distance));
    prefetch(ring_.slot(ticket + prefetch_distance).payload + 32);
#endif
  }

  /// How many messages from `ticket` on form a batch: same type and priority, no deadline, and next in
  /// order.
  RONDO_HD std::uint32_t run_length(std::uint32_t ticket, std::uint32_t quota) const noexcept {
    if (!priority_lists().in_order()) return 1;
    auto most = quota < most_at_once_ ? quota : most_at_once_;
    if (ring_.slot_count < most) most = ring_.slot_count;
    message_header const& first = ring_.slot(ticket).header;
    for (std::uint32_t count = 1;;) {
      auto const wanted = most - count < loads_at_once ? most - count : loads_at_once;
      auto const there = ring_.count_committed(ticket + count, wanted);
      for (std::uint32_t i = 0; loads_at_once > 1 && i < there; ++i) {
        prefetch(&ring_.slot(ticket + count + i).header);
        prefetch(ring_.slot(ticket + count + i).payload);
      }
      for (std::uint32_t i = 0; i < there; ++i, ++count) {
        message_header const& h = ring_.slot(ticket + count).header;
        if (h.type != first.type || h.priority != first.priority || h.deadline != 0) return count;
      }
      if (there < loads_at_once) return count;
    }
  }

  /// Counts a handled message and gives its slot back. If the handler failed, applies the supervision rule.
  RONDO_HOT RONDO_HD void conclude_one(std::uint32_t ticket, message_header const& h,
                                       call_result const& result) {
    if (result.failure != errc::ok) return on_handler_failed(ticket, result);
    ++totals_.handled;
    if ((h.flags & settled_flags) != 0 || journal_ != 0) settle(h, result.answered, result.digest);
    priority_lists().take(ticket);
  }
  RONDO_CALL RONDO_HD void conclude_run(std::uint32_t ticket, std::uint32_t count,
                                        call_result const& result) {
    if (result.failure != errc::ok) return on_batch_failed(ticket, count, result);
    totals_.handled += count;
    for (std::uint32_t i = 0; i < count; ++i)
      if (message_header const& h = ring_.slot(ticket + i).header;
          (h.flags & settled_flags) != 0 || journal_ != 0)
        settle(h, result.answered, count == 1 ? result.digest : untold_digest);
    // A single message may have been picked by priority and need not be the oldest.
    count == 1 ? priority_lists().take(ticket) : priority_lists().take_run(count);
  }

  /// For handle_now: false if the message is to wait in the mailbox for another attempt.
  RONDO_CALL RONDO_HD bool conclude_failed(message& m) {
    knows_next_ = false;
    if (context_.how() == unhandled::stays) return false;
    if (context_.how() == unhandled::stashed) return this->stash_direct(m);
    auto const reason = context_.how() == unhandled::rejected ? context_.failure()
                                                              : this->judge(m.header, context_.failure());
    if (reason == errc::ok) return false;
    ++totals_.accepted;
    this->refuse_or_bury(m.header, m.payload, reason);
    return true;
  }

  RONDO_HD void dispose(std::uint32_t ticket, errc reason) {
    knows_next_ = false;
    base::dispose(ticket, reason);
  }

  RONDO_CALL RONDO_HD void on_handler_failed(std::uint32_t ticket, call_result const& result) {
    knows_next_ = false;
    this->on_failed(ticket, result);
    discarding_ = this->state() == lifecycle::discarding;  // the rule may have terminated the actor
  }
  /// A failure is that of the first message, and the others come again. Rejected or stashed are all.
  RONDO_CALL RONDO_HD void on_batch_failed(std::uint32_t ticket, std::uint32_t count, call_result result) {
    if (result.how == unhandled::failed) return on_handler_failed(ticket, result);
    if (count != 1) result.digest = untold_digest;
    for (std::uint32_t i = 0; i < count; ++i) on_handler_failed((ticket + i) & ticket_mask, result);
  }

  /// Extra work for some handled messages: latency, report, missing reply. Precondition: `h` is in the ring.
  RONDO_CALL RONDO_HD void settle(message_header const& h, bool answered, std::uint32_t digest) {
    if ((h.flags & flag_sampled) != 0) this->record_latency(h.age_ns(rondo::now_ns()));
    if (this->is_reported(h)) this->report(event_kind::handled, h, slot_around(h).payload, errc::ok, digest);
    if ((h.flags & flag_wants_reply) != 0 && !answered) this->refuse(h, errc::no_reply);
  }

  /// Of handle_now: as many messages as of a mailbox's.
  RONDO_HD bool is_sampled() const noexcept {
    return with_telemetry && (totals_.handled & sample_mask_) == 0;
  }

  RONDO_CALL RONDO_HD void begin_wide(std::uint32_t ticket) {
    knows_next_ = false;
    auto const begun = crew_.run({handler_call::what::tiles, index_, ticket, 0}, self_, &own_mail_);
    if (begun.failure != errc::ok) return on_handler_failed(ticket, begun);
    if (begun.tiles > max_tiles) return end_wide(ticket, errc::payload_too_large);
    auto const jobs = begun.tiles > 1 ? wide_jobs_for(arena_.shape().teams) : 0;
    for (std::uint32_t j = 0; j < jobs; ++j)
      if (arena_.job(j).try_own()) return share_tiles(arena_.job(j), ticket, begun.tiles);
    errc failure = errc::ok;
    for (std::uint32_t t = 0; t < begun.tiles && failure == errc::ok; ++t)
      failure = crew_.run({handler_call::what::tile, index_, ticket, t}, self_).failure;
    end_wide(ticket, failure);
  }

  RONDO_CALL RONDO_HD void share_tiles(wide_job& job, std::uint32_t ticket, std::uint32_t tiles) {
    bool const stays = actor_word{cell_.word.load(memory_order::relaxed)}.has(actor_word::pinned);
    job.actor = index_;
    job.ticket = ticket;
    job.stays = stays;
    cell_.totals.publish(totals_);  // for the team that continues with the actor
    this->save_own_mail();          // likewise
    auto const epoch = job.open(tiles);
    arena_.header().open_jobs.fetch_add(1, memory_order::relaxed);  // relaxed: a hint
    scheduler_.wake(static_cast<int>(tiles) - 1);
    std::uint32_t tile = 0;
    bool mine = false;
    while (job.try_claim_of(epoch, tile)) mine = run_tile(crew_, job, tile, self_) || mine;
    if (stays) {
      while (job.unfinished.load(memory_order::acquire) != 0) relax();  // other teams' last tiles
    } else if (!mine) {
      handed_over_ = true;  // from here on this team must not touch the actor
      return;
    }
    end_wide(ticket, close(arena_, job));
  }

  RONDO_CALL RONDO_HD void end_wide(std::uint32_t ticket, errc failure) {
    call_result result{.failure = failure};
    if (failure == errc::ok)
      result = crew_.run({handler_call::what::finish, index_, ticket, 0}, self_, &own_mail_);
    conclude_one(ticket, ring_.slot(ticket).header, result);
  }

  // Far enough ahead to hide a cache line's transfer from another core, with a few messages in flight.
  static constexpr std::uint32_t prefetch_distance = 8;
  static constexpr int linger_looks = 4;
  static constexpr int settled_flags = flag_wants_reply | flag_sampled | flag_traced;

  // Read once because every message needs them, and most are on a cache line that senders keep writing.
  std::uint16_t const behaviour_ = cell_.behaviour();
  std::byte* const state_ = arena_.state(cell_);
  std::uint32_t const quota_ = arena_.shape().quota;
  std::uint32_t const most_at_once_ = this->turn_.batch();
  bool const alone_ = team_.lanes() == 1 || !Module::cooperative(cell_.behaviour());
  rondo::team const solo_{team_.index()};
  context context_{scheduler_, solo_, host_, self_, &own_mail_};
  team_status& status_ = arena_.team(team_.index());
  // For `look`, while knows_next_: the oldest message. in_turn_: it is the next one.
  std::uint32_t next_;
  bool in_turn_, knows_next_ = false;
  bool discarding_ = false;
  std::uint32_t dealt_at_linger_ = 0;
  bool handed_over_ = false;  // another team now owns the actor
  std::uint32_t const sample_mask_ = arena_.shape().latency_sample_every - 1;
};

}  // namespace rondo
