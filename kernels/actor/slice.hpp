// A slice, one turn of one actor: obey control, handle up to a quota of messages, count them, release the actor.
//
// Threads: lane 0 of the team that owns the actor. A wide message may complete on another team than the one that began
// it; ownership then passes to that team.
#pragma once

#include "kernels/actor/team_packs.hpp"

namespace rondo {

template <class Module>
class slice {
 public:
  /// Precondition: the caller owns actor `index` (scheduler::claim).
  RONDO_HD slice(scheduler& sched, team const& t, host_port const& host, std::uint32_t index) noexcept
      : actor_(sched, t, host, index) {}
  /// Of a team that packs mail; `packs` null: not now.
  slice(scheduler& sched, team const& t, host_port const& host, std::uint32_t index,
        team_packs* packs) noexcept
      : actor_(sched, t, host, index), packing_{packs} {}

  /// Runs the actor until it has no mail, or for `quotas` quotas; for one quota if other actors wait for the team.
  /// Returns the number of completed messages.
  RONDO_HD std::uint32_t run(std::uint32_t quotas) {
    actor_.note_depth();
    return run_rest(0, quotas * quota_);
  }

  /// Continues with the actor after the last tile of the wide message `ticket`.
  RONDO_CALL RONDO_HD std::uint32_t resume(std::uint32_t ticket, errc failure) {
    end_wide(ticket, failure);
    return run_rest(1, quota_);
  }

  /// Continues with the actor, whose run `i` of the pack has been played: takes over its state and gives its mail back.
  /// What its handlers have sent must have been delivered. If the pack has failed, nothing of this has happened, and
  /// this team handles the mail.
  std::uint32_t end_run(mail_pack const& pack, std::uint32_t i) {
    packed_run const& run = pack.run(i);
    if (pack.failure != errc::ok) {
      packing_.stays_here = true;
      return run_rest(0, quota_);
    }
    __builtin_memcpy(state_, pack.states() + run.state_at, Module::packed(behaviour_)->state_bytes);
    auto const ticket = pack.from(i).ticket;
    auto const done = run.handled < run.count ? run.handled : run.count;
    if (pack.from(i).is_run && (done != run.count || !actor_.priority_lists().has_next_in_order()))
      mail_run{actor_.ring, ticket, run.count}.unpack();
    else if (pack.from(i).is_run)
      return end_whole_run(ticket, run.count), run_rest(run.count, quota_);
    for (std::uint32_t n = 0; n < done; ++n) {
      auto const t = (ticket + n) & ticket_mask;
      message_header const& h = actor_.ring.slot(t).header;
      ++actor_.totals.handled;
      if ((h.flags & settled_flags) != 0) settle(h, pack.message(run.first + n).answered != 0, 0);
      actor_.priority_lists().take(t);
    }
    if (run.failure != 0 && done != run.count)
      on_handler_failed((ticket + done) & ticket_mask, {.failure = static_cast<errc>(run.failure)});
    return run_rest(done + (done != run.count), quota_);
  }

  /// A pinned team's turn: handles the mail that has arrived and keeps the actor. False once the actor is gone.
  RONDO_HD bool poll(std::uint32_t& dealt) {
    for (dealt = 0; dealt < quota_;) {
      auto const seen = look();
      if (seen == sight::other || (seen == sight::nothing && actor_.own_mail != 0)) break;
      if (seen == sight::nothing) {
        // On a GPU a look takes no cache line from the sender.
        if (!threads_park || dealt == 0) return true;
        std::uint32_t ticket = 0;
        bool const more = linger(ticket, dealt) != 0;
        in_turn_ = actor_.priority_lists().in_order();  // its looks may have linked urgent mail
        if (!more) return true;
        continue;
      }
      if (dealt == 0) show_running();
      auto const n = deal_with(next_, quota_ - dealt);
      next_ = (next_ + n) & ticket_mask;
      dealt += n;
    }
    if (actor_.control_waits()) show_running(), actor_.obey();
    if (!actor_.has_ring) actor_.look_at_word();
    actor_.note_depth();
    if (!actor_.paused) dealt += handle_mail(quota_ - dealt);
    if (actor_.own_mail != 0) dealt += actor_.handle_own_mail();
    knows_next_ = false;
    if (!actor_.closing()) return true;
    show_running();
    return !actor_.end_when_empty();
  }
  /// Handles a message that has come to a pinned team by its direct ring, without a mailbox, if it is the next one
  /// anyway: no mail waits, and its handler takes one message at a time, on one lane. Otherwise false: it belongs in
  /// the mailbox.
  RONDO_HOT RONDO_HD bool handle_now(actor_id to, message& m) {
    message_header& h = m.header;
    prefetch(state_);
    auto const seen = look<false>();  // no mail: so there is none to acquire
    bool const plain = (h.flags & ~flag_wants_reply) == 0 && h.priority == default_priority &&
                       actor_.journal == 0 && alone_ && to == actor_.self;
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
      actor_.record_latency(h.stamped() ? h.age_ns(rondo::now_ns()) : rondo::now_ns() - began_ns);
    ++actor_.totals.accepted;
    ++actor_.totals.handled;
    if ((h.flags & flag_wants_reply) != 0 && !context_.answered()) actor_.refuse(h, errc::no_reply);
    return true;
  }

  /// A pinned team releases its actor before it sleeps. False if a signal came in. `mail_left`: there is mail that the
  /// team has not seen and whose sender will not ring the doorbell.
  RONDO_HD bool release(bool& mail_left) {
    bool const left = actor_.release();
    knows_next_ = false;
    mail_left = actor_.mail_left;
    return left;
  }
  /// Publishes the counters of an actor that a team keeps, and notifies the host of room if a sender waits for it.
  RONDO_CALL RONDO_HD void show(bool counters = true) {
    actor_word const word{actor_.cell.word.load(memory_order::acquire)};
    if (counters) actor_.sched.publish(actor_.cell, word, actor_.totals);
    if (!word.has(actor_word::room_wanted)) return;
    if (actor_.has_ring && actor_.priority_lists().stash_leaves_no_room(word)) return;
    actor_.cell.word.fetch_and(~actor_word::room_wanted, memory_order::relaxed);  // relaxed: only bits
    actor_.tell_of_room();
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
  /// A message of a run, as Module::handle_one takes it.
  struct mail_in_run {
    message_header const& header;
    std::byte const* payload;
  };

  /// What a pinned team sees of its actor: nothing new; mail, and nothing that comes before it; or something else.
  enum class sight { nothing, mail, other };

  /// One look of a pinned team. On a GPU it takes as long as one load, because none of its loads depends on another.
  /// `Acquires`: what it finds is read next.
  template <bool Acquires = true>
  RONDO_HOT RONDO_HD sight look() noexcept {
    if (!knows_next_) {
      knows_next_ = true;
      next_ = actor_.cell.head;
      in_turn_ = actor_.has_ring && !actor_.paused && !actor_.closing() && actor_.priority_lists().in_order();
    }
    if (!in_turn_) return sight::other;
    // Relaxed, both: obey acquires, and a thread that sees a commit also sees that it was announced.
    auto const control = actor_.cell.control.load(memory_order::relaxed);
    auto const announced = actor_.cell.announced.load(memory_order::relaxed);
    auto const mail = actor_.ring.count_at(next_, Acquires ? polling : memory_order::relaxed);
    if ((control & control_mask) != 0 || announced != 0) return sight::other;
    if (mail > 1) return sight::other;
    if (mail == 0 || !Acquires) return mail != 0 ? sight::mail : sight::nothing;
    acquire_found();
    return actor_.priority_lists().has_default_priority(next_) ? sight::mail : sight::other;
  }

  RONDO_HD std::uint32_t run_rest(std::uint32_t dealt, std::uint32_t most) {
    auto quota = quota_;
    bool went_on = false;
    while (!handed_over_) {
      if (actor_.control_waits()) actor_.obey();
      if (!actor_.paused && dealt < quota) {
        if constexpr (packs_mail<Module>)
          dealt += handle_or_pack(quota - dealt);
        else
          dealt += handle_mail(quota - dealt);
      }
      if (handed_over_) break;
      // Once at least: mail that never ends is not to keep it waiting. Not again beyond the quota: then others have
      // their turn.
      bool const goes_on = actor_.own_mail != 0 && (dealt < quota || !went_on);
      if (goes_on) {
        went_on = true;
        dealt += actor_.handle_own_mail();
      }
      // Behind all that may fail and so close the actor: once released, it would not be run again if no mail waits.
      if (actor_.closing() && actor_.end_when_empty()) break;
      if (goes_on && actor_.own_mail != 0 && dealt < quota && !actor_.sched.sees_work() &&
          !actor_.arena.stopping())
        continue;
      if ((dealt >= quota || run_waits_) && quota < most && !actor_.sched.sees_work()) {
        // Releasing the actor and claiming it again would take the word from its senders twice.
        show(with_telemetry);  // without telemetry, the totals wait for the release
        quota += quota_;
        continue;
      }
      if (actor_.release()) break;
    }
    return dealt;
  }

  /// In a module with portable behaviours, on a device that may have a GPU beside it.
  std::uint32_t handle_or_pack(std::uint32_t quota) {
    auto const* const portable = packing_.packs != nullptr ? Module::packed(behaviour_) : nullptr;
    if (portable == nullptr) return handle_mail(quota);
    bool const is_plain = !packing_.stays_here && actor_.state() != lifecycle::discarding &&
                          actor_.journal == 0 && actor_.has_ring && !actor_.arena.stopping() &&
                          !actor_.control_waits();
    if (is_plain && packing_.packs->takes(behaviour_)) {
      // Before it is played: some team may continue with the actor at once.
      actor_.cell.totals.publish(actor_.totals);
      actor_.save_own_mail();
      handed_over_ = pack_mail(actor_, state_, *packing_.packs, *portable, quota);
      if (packing_.packs->open != nullptr && packing_.packs->open->is_full()) packing_.packs->play();
      if (handed_over_) return 0;
    }
    auto const began_ns = rondo::now_ns();
    auto const dealt = handle_mail(quota);
    if (dealt != 0) packing_.packs->desk->note_on_host(behaviour_, dealt, rondo::now_ns() - began_ns);
    return dealt;
  }

  /// All of a run have been handled, and no other message comes before them.
  void end_whole_run(std::uint32_t ticket, std::uint32_t count) {
    auto const h = mail_run{actor_.ring, ticket, count}.header(0);
    if ((h.flags & flag_sampled) != 0) actor_.record_latency(h.age_ns(rondo::now_ns()));
    actor_.totals.handled += count;
    actor_.priority_lists().take_many(count);
  }

  RONDO_HOT RONDO_HD std::uint32_t handle_mail(std::uint32_t quota) {
    std::uint32_t dealt = 0;
    discarding_ = actor_.state() == lifecycle::discarding;
    run_waits_ = false;
    while (actor_.has_ring && dealt < quota && !handed_over_ && !actor_.arena.stopping() &&
           !actor_.control_waits()) {
      std::uint32_t ticket = 0;
      auto count = actor_.priority_lists().pick(ticket);
      // Within a team, the message that was handled has usually made another actor ready.
      if (count == 0 && dealt != 0 && !actor_.sched.keeps_actor()) count = linger(ticket, dealt);
      if (count != 1) [[unlikely]] {
        if (!sends_runs || count == 0) break;
        run_waits_ = dealt != 0 && count > quota - dealt;
        if (run_waits_) break;
        if (dealt == 0) show_running();
        dealt += deal_with_run(ticket, count, quota - dealt);
        continue;
      }
      if (dealt == 0) show_running();
      dealt += deal_with(ticket, quota - dealt);
    }
    return dealt;
  }

  /// Reports this actor as running. (A pinned team reports none while it waits for mail.)
  RONDO_HD void show_running() noexcept {
    status_.actor.store(actor_.index + 1, memory_order::relaxed);  // relaxed: only a report
  }

  /// Waits briefly for more mail, as `pick` finds it, while no other actor needs the team. For a busy sender this is
  /// cheaper than scheduling the actor for each message. Each look takes the cache line from the sender. So the more
  /// messages a pause brought, the longer the next pause, and a single answer is still seen soon.
  RONDO_HD std::uint32_t linger(std::uint32_t& ticket, std::uint32_t dealt) {
    auto& pauses = actor_.sched.linger_pauses;
    if (pauses == 0 || actor_.sched.keeps_actor()) return 0;
    auto const brought = dealt - dealt_at_linger_;
    dealt_at_linger_ = dealt;
    if (brought > 2 && pauses < 256) pauses *= 2;
    if (brought < 2 && pauses > 2) pauses /= 2;
    for (int look = 0; look < linger_looks && !actor_.sched.sees_work(); ++look) {
      for (std::uint32_t i = 0; i < pauses; ++i) relax();
      if (auto const count = actor_.priority_lists().pick(ticket)) return count;
    }
    return 0;
  }

  /// For handle_now: false if the message is to wait in the mailbox for another attempt.
  RONDO_CALL RONDO_HD bool conclude_failed(message& m) {
    knows_next_ = false;
    if (context_.how() == unhandled::stays) return false;
    if (context_.how() == unhandled::stashed) return actor_.stash_direct(m);
    auto const reason = context_.how() == unhandled::rejected ? context_.failure()
                                                              : actor_.judge(m.header, context_.failure());
    if (reason == errc::ok) return false;
    ++actor_.totals.accepted;
    actor_.refuse_or_bury(m.header, m.payload, reason);
    return true;
  }

  // -- handling

  /// Handles or disposes of the message `ticket` (and, for a batch handler, its neighbours).
  RONDO_HOT RONDO_HD std::uint32_t deal_with(std::uint32_t ticket, std::uint32_t quota) {
    message_slot const& slot = actor_.ring.slot(ticket);
    message_header const& h = slot.header;
    prefetch_for(ticket, quota);
    if (discarding_) [[unlikely]]
      return dispose(ticket, errc::terminated), 1;
    if (h.deadline != 0 && h.expired(rondo::now_ns())) [[unlikely]]
      return dispose(ticket, errc::timed_out), 1;
    status_.begin(h.type);
    if ((h.flags & flag_traced) != 0) [[unlikely]]
      actor_.note_begun(ticket);
    handler_kind kind;
    call_result result;
    if (alone_) {  // the common case, kept short
      context_.begin(h);
      kind = Module::handle_one(behaviour_, state_, context_, slot);
      result = outcome();
    } else {
      kind = Module::kind_of(behaviour_, h.type);
      if (kind == handler_kind::one)
        result = actor_.crew.run({handler_call::what::one, actor_.index, ticket, 1}, actor_.self,
                                 &actor_.own_mail);
    }
    if (kind == handler_kind::one) return conclude_one(ticket, h, result), 1;
    if (kind == handler_kind::none) return dispose(ticket, errc::unknown_message), 1;
    if (kind == handler_kind::wide) return begin_wide(ticket), 1;
    std::uint32_t const count = batch_length(ticket, quota);
    conclude_batch(ticket, count,
                   actor_.crew.run({handler_call::what::batch, actor_.index, ticket, count}, actor_.self,
                                   &actor_.own_mail));
    return count;
  }

  /// The same for a run of `count` messages, which is handled as it lies if each of them goes the common way. `quota`:
  /// at least `count`, if it is to be.
  RONDO_CALL RONDO_HD std::uint32_t deal_with_run(std::uint32_t ticket, std::uint32_t count,
                                                  std::uint32_t quota) {
    mail_run const run{actor_.ring, ticket, count};
    auto const h = run.header(0);
    auto const kind = Module::kind_of(behaviour_, h.type);
    bool const together = kind == handler_kind::batch;
    if (actor_.journal != 0 || !alone_ || discarding_ || count > quota ||
        !(together || kind == handler_kind::one)) {
      run.unpack();
      return deal_with(ticket, quota);
    }
    knows_next_ = false;
    status_.begin(h.type);
    run_payloads copy;
    run.copy_to(copy);
    for (std::uint32_t i = 0;;) {
      auto const n = !together ? 1 : count - i < most_at_once_ ? count - i : most_at_once_;
      context_.begin(h);
      if (together)
        Module::handle_batch(behaviour_, state_, context_, h.type,
                             {copy.bytes, i * run.bytes(), run.bytes(), ~0u}, n);
      else
        Module::handle_one(behaviour_, state_, context_, mail_in_run{h, copy.bytes + i * run.bytes()});
      bool const ok = context_.failure() == errc::ok;
      bool const goes_on = ok && actor_.priority_lists().has_next_in_order() && !actor_.control_waits() &&
                           !actor_.arena.stopping();
      if (!goes_on) [[unlikely]]
        run.unpack(i, copy);
      if (!ok) [[unlikely]] {
        on_batch_failed((ticket + i) & ticket_mask, n, outcome());
        return i + n;
      }
      actor_.totals.handled += n;
      if (i == 0 && (h.flags & flag_sampled) != 0) actor_.record_latency(h.age_ns(rondo::now_ns()));
      // `take`, because by now this may be a single message among others.
      n == 1 ? actor_.priority_lists().take((ticket + i) & ticket_mask)
             : actor_.priority_lists().take_many(n);
      i += n;
      if (i == count || !goes_on) return i;
    }
  }

  RONDO_HOT RONDO_HD void prefetch_for(std::uint32_t ticket,
                                       [[maybe_unused]] std::uint32_t quota) const noexcept {
#if defined(__CUDA_ARCH__)
    // What the handler will need comes together with the header. Later messages would not stay: the next look acquires.
    prefetch(actor_.ring.slot(ticket).payload);
    prefetch(state_);
#else
    if (quota == quota_) return;  // the first message is often the only one
    prefetch(&actor_.ring.slot(ticket + prefetch_distance));
    prefetch(actor_.ring.slot(ticket + prefetch_distance).payload + 32);
#endif
  }

  /// How many messages from `ticket` on form a batch: same type and priority, no deadline, and next in
  /// order.
  RONDO_HD std::uint32_t batch_length(std::uint32_t ticket, std::uint32_t quota) const noexcept {
    if (!actor_.priority_lists().in_order()) return 1;
    auto most = quota < most_at_once_ ? quota : most_at_once_;
    if (actor_.ring.slot_count < most) most = actor_.ring.slot_count;
    message_header const& first = actor_.ring.slot(ticket).header;
    for (std::uint32_t count = 1;;) {
      auto const wanted = most - count < loads_at_once ? most - count : loads_at_once;
      auto const there = actor_.ring.count_committed(ticket + count, wanted);
      for (std::uint32_t i = 0; loads_at_once > 1 && i < there; ++i) {
        prefetch(&actor_.ring.slot(ticket + count + i).header);
        prefetch(actor_.ring.slot(ticket + count + i).payload);
      }
      for (std::uint32_t i = 0; i < there; ++i, ++count) {
        message_header const& h = actor_.ring.slot(ticket + count).header;
        if (h.type != first.type || h.priority != first.priority || h.deadline != 0) return count;
      }
      if (there < loads_at_once) return count;
    }
  }

  /// Counts a handled message and gives its slot back. If the handler failed, applies the supervision rule.
  RONDO_HOT RONDO_HD void conclude_one(std::uint32_t ticket, message_header const& h,
                                       call_result const& result) {
    if (result.failure != errc::ok) return on_handler_failed(ticket, result);
    ++actor_.totals.handled;
    if ((h.flags & settled_flags) != 0 || actor_.journal != 0) settle(h, result.answered, result.digest);
    actor_.priority_lists().take(ticket);
  }
  RONDO_CALL RONDO_HD void conclude_batch(std::uint32_t ticket, std::uint32_t count,
                                          call_result const& result) {
    if (result.failure != errc::ok) return on_batch_failed(ticket, count, result);
    actor_.totals.handled += count;
    for (std::uint32_t i = 0; i < count; ++i)
      if (message_header const& h = actor_.ring.slot(ticket + i).header;
          (h.flags & settled_flags) != 0 || actor_.journal != 0)
        settle(h, result.answered, count == 1 ? result.digest : untold_digest);
    // A single message may have been picked by priority and need not be the oldest.
    count == 1 ? actor_.priority_lists().take(ticket) : actor_.priority_lists().take_many(count);
  }

  /// Of the handler that context_ was given to.
  RONDO_HOT RONDO_HD call_result outcome() const noexcept {
    return {context_.failure(), context_.answered(), context_.how(), 0, context_.digest()};
  }

  RONDO_HD void dispose(std::uint32_t ticket, errc reason) {
    knows_next_ = false;
    actor_.dispose(ticket, reason);
  }

  RONDO_CALL RONDO_HD void on_handler_failed(std::uint32_t ticket, call_result const& result) {
    knows_next_ = false;
    actor_.on_failed(ticket, result);
    discarding_ = actor_.state() == lifecycle::discarding;  // the rule may have terminated the actor
  }
  /// A failure is that of the first message, and the others come again. Rejected or stashed are all.
  RONDO_CALL RONDO_HD void on_batch_failed(std::uint32_t ticket, std::uint32_t count, call_result result) {
    if (result.how == unhandled::failed) return on_handler_failed(ticket, result);
    if (count != 1) result.digest = untold_digest;
    for (std::uint32_t i = 0; i < count; ++i) on_handler_failed((ticket + i) & ticket_mask, result);
  }

  /// Extra work for some handled messages: latency, report, missing reply. Precondition: `h` is in the ring.
  RONDO_CALL RONDO_HD void settle(message_header const& h, bool answered, std::uint32_t digest) {
    if ((h.flags & flag_sampled) != 0) actor_.record_latency(h.age_ns(rondo::now_ns()));
    if (actor_.is_reported(h))
      actor_.report(event_kind::handled, h, slot_around(h).payload, errc::ok, digest);
    if ((h.flags & flag_wants_reply) != 0 && !answered) actor_.refuse(h, errc::no_reply);
  }

  /// Of handle_now: as many messages as of a mailbox's.
  RONDO_HD bool is_sampled() const noexcept {
    return with_telemetry && (actor_.totals.handled & sample_mask_) == 0;
  }

  RONDO_CALL RONDO_HD void begin_wide(std::uint32_t ticket) {
    knows_next_ = false;
    auto const begun =
        actor_.crew.run({handler_call::what::tiles, actor_.index, ticket, 0}, actor_.self, &actor_.own_mail);
    if (begun.failure != errc::ok) return on_handler_failed(ticket, begun);
    if (begun.tiles > max_tiles) return end_wide(ticket, errc::payload_too_large);
    auto const jobs = begun.tiles > 1 ? wide_jobs_for(actor_.arena.shape().teams) : 0;
    for (std::uint32_t j = 0; j < jobs; ++j)
      if (actor_.arena.job(j).try_own()) return share_tiles(actor_.arena.job(j), ticket, begun.tiles);
    errc failure = errc::ok;
    for (std::uint32_t t = 0; t < begun.tiles && failure == errc::ok; ++t)
      failure = actor_.crew.run({handler_call::what::tile, actor_.index, ticket, t}, actor_.self).failure;
    end_wide(ticket, failure);
  }

  RONDO_CALL RONDO_HD void share_tiles(wide_job& job, std::uint32_t ticket, std::uint32_t tiles) {
    bool const stays = actor_word{actor_.cell.word.load(memory_order::relaxed)}.has(actor_word::pinned);
    job.actor = actor_.index;
    job.ticket = ticket;
    job.stays = stays;
    actor_.cell.totals.publish(actor_.totals);  // for the team that continues with the actor
    actor_.save_own_mail();                     // likewise
    auto const epoch = job.open(tiles);
    actor_.arena.header().open_jobs.fetch_add(1, memory_order::relaxed);  // relaxed: a hint
    actor_.sched.wake(static_cast<int>(tiles) - 1);
    std::uint32_t tile = 0;
    bool mine = false;
    while (job.try_claim_of(epoch, tile)) mine = run_tile(actor_.crew, job, tile, actor_.self) || mine;
    if (stays) {
      while (job.unfinished.load(memory_order::acquire) != 0) relax();  // other teams' last tiles
    } else if (!mine) {
      handed_over_ = true;  // from here on this team must not touch the actor
      return;
    }
    end_wide(ticket, close(actor_.arena, job));
  }

  RONDO_CALL RONDO_HD void end_wide(std::uint32_t ticket, errc failure) {
    call_result result{.failure = failure};
    if (failure == errc::ok)
      result = actor_.crew.run({handler_call::what::finish, actor_.index, ticket, 0}, actor_.self,
                               &actor_.own_mail);
    conclude_one(ticket, actor_.ring.slot(ticket).header, result);
  }

  // Far enough ahead to hide a cache line's transfer from another core, with a few messages in flight.
  static constexpr std::uint32_t prefetch_distance = 8;
  static constexpr int settled_flags = flag_wants_reply | flag_sampled | flag_traced;
  static constexpr int linger_looks = 4;

  owned_actor<Module> actor_;

  // Read once because every message needs them, and most are on a cache line that senders keep writing.
  std::uint16_t const behaviour_ = actor_.cell.behaviour();
  std::byte* const state_ = actor_.arena.state(actor_.cell);
  std::uint32_t const quota_ = actor_.arena.shape().quota;
  std::uint32_t const most_at_once_ = actor_.turn.batch();
  bool const alone_ = actor_.team.lanes() == 1 || !Module::cooperative(actor_.cell.behaviour());
  rondo::team const solo_{actor_.team.index()};
  context context_{actor_.sched, solo_, actor_.host, actor_.self, &actor_.own_mail};
  team_status& status_ = actor_.arena.team(actor_.team.index());
  bool knows_next_ = false;  // what is known of the next message still holds
  bool discarding_ = false;
  bool handed_over_ = false;  // another team now owns the actor, or a pack
  struct packing {
    team_packs* packs = nullptr;  // of the team; null: it packs no mail
    bool stays_here = false;      // its mail is not packed in this turn
  };
  [[no_unique_address]] std::conditional_t<packs_mail<Module>, packing, packs_nothing> packing_{};
  std::uint32_t const sample_mask_ = actor_.arena.shape().latency_sample_every - 1;

  // For `look`, while knows_next_: the oldest message. in_turn_: it is the next one.
  std::uint32_t next_;
  bool in_turn_;
  bool run_waits_ = false;  // the next messages are a run, for which the rest of the quota is too short
  std::uint32_t dealt_at_linger_ = 0;
};

}  // namespace rondo
