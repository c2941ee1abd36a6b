// A slice, one turn of one actor: obey control, handle up to a quota of messages, count them, release the actor.
//
// Threads: as of running_actor.
#pragma once

#include "kernels/actor/running_actor.hpp"
#include "kernels/actor/team_packs.hpp"

namespace rondo {

template <class Module>
class slice : public running_actor<Module> {
  using base = running_actor<Module>;

 public:
  /// Precondition: the caller owns actor `index` (scheduler::claim).
  RONDO_HD slice(scheduler& sched, team const& t, host_port const& host, std::uint32_t index) noexcept
      : base(sched, t, host, index) {}
  /// Of a team that packs mail; `packs` null: not now.
  slice(scheduler& sched, team const& t, host_port const& host, std::uint32_t index,
        team_packs* packs) noexcept
      : base(sched, t, host, index), packing_{packs} {}

  /// Runs the actor until it has no mail, or for `quotas` quotas; for one quota if other actors wait for the team.
  /// Returns the number of completed messages.
  RONDO_HD std::uint32_t run(std::uint32_t quotas) { return run_rest(0, quotas * quota_); }

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
      if (may_flood() && knows_next()) {
        if (dealt == 0) show_running();
        auto const n = deal_with_window(next_, quota_ - dealt);
        next_ = (next_ + n) & ticket_mask;
        dealt += n;
        if (n != 0) continue;
      }
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
      note_flood(dealt);
      if (dealt == 0) show_running();
      auto const n = deal_with(next_, quota_ - dealt);
      next_ = (next_ + n) & ticket_mask;
      dealt += n;
    }
    // More mail waits than the quota: the next window looks for commands itself.
    if (dealt >= quota_ && may_flood() && knows_next_ && actor_.own_mail == 0)
      return actor_.note_depth(), true;
    while (actor_.control_waits()) show_running(), actor_.obey();
    if (!actor_.has_ring) actor_.look_at_word();
    actor_.note_depth();
    if (!actor_.paused) dealt += handle_mail(quota_ - dealt);
    if (actor_.own_mail != 0) dealt += actor_.handle_own_mail();
    knows_next_ = false;
    if (!actor_.closing()) return true;
    show_running();
    return !actor_.end_when_empty();
  }
  /// Handles messages that have come to a pinned team by its direct ring, without a mailbox, as long as each of them is
  /// the next one anyway: no mail waits, and its handler takes one message at a time, on one lane. The others belong in
  /// the mailbox. Returns how many; see direct_inbox::take. `Submission`: a message, `body`, with its actor, `to`.
  template <class Submission, class Then>
  RONDO_HOT RONDO_HD std::uint32_t handle_now(window_contents const& contents, Submission* items,
                                              Then const& then) {
    prefetch(state_);
    if (!alone_ || actor_.journal != 0 || !(items->to == actor_.self) || !knows_next()) return 0;
    order_of_direct<Then> order{*this, then};
    auto const end = this->handle_in_order(contents, items, order, {}, true);
    actor_.totals.accepted += end.handled;
    actor_.totals.handled += end.handled;
    auto done = end.handled;
    // A failure is that of the first message. Rejected or stashed are all.
    for (std::uint32_t n = 0; n < end.failed && conclude_failed(items[done].body); ++n, ++done)
      if (context_.how() == unhandled::failed) n = end.failed;
    if (end.failed != 0) then();
    return done;
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
    actor_word const word{actor_.cell.word.load(polling)};  // adopt_ring acquires
    if (counters) actor_.sched.publish(actor_.own, word, actor_.totals);
    if (!word.has(actor_word::room_wanted)) return;
    if (actor_.has_ring && actor_.priority_lists().stash_leaves_no_room(word)) return;
    actor_.cell.word.fetch_and(~actor_word::room_wanted, memory_order::relaxed);  // relaxed: only bits
    actor_.tell_of_room();
  }

  /// The most messages of one slice.
  RONDO_HD std::uint32_t quota() const noexcept { return quota_; }

 private:
  using base::actor_;
  using base::alone_;
  using base::behaviour_;
  using base::context_;
  using base::deal_with;
  using base::deal_with_run;
  using base::deal_with_window;
  using base::discarding_;
  using base::end_wide;
  using base::floods_;
  using base::handed_over_;
  using base::knows_next_;
  using base::may_flood;
  using base::note_flood;
  using base::on_handler_failed;
  using base::prefetch_with;
  using base::quota_;
  using base::settle;
  using base::settled_flags;
  using base::state_;

  /// Whether the oldest message, `next_`, comes next if it is committed.
  RONDO_HOT RONDO_HD bool knows_next() noexcept {
    if (!knows_next_) {
      knows_next_ = true;
      next_ = actor_.own.head;
      in_turn_ = actor_.has_ring && !actor_.paused && !actor_.closing() && actor_.priority_lists().in_order();
    }
    return in_turn_;
  }

  /// What a pinned team sees of its actor: nothing new; mail, and nothing that comes before it; or something else.
  enum class sight { nothing, mail, other };

  /// One look of a pinned team. On a GPU it takes as long as one load, because none of its loads depends on another.
  RONDO_HOT RONDO_HD sight look() noexcept {
    if (!knows_next()) return sight::other;
    // Copies, which stay in registers on a GPU.
    auto const ring = actor_.ring;
    auto const& own = actor_.own;
    auto const ticket = next_;
    // Relaxed, both: obey acquires, and a thread that sees a commit also sees that it was announced.
    auto const control = own.control.load(memory_order::relaxed);
    auto const announced = own.announced.load(memory_order::relaxed);
    auto const mail = ring.count_at(ticket, polling);
    if ((control & control_mask) != 0 || announced != 0) return sight::other;
    if (mail > 1) return sight::other;
    if (mail == 0) return sight::nothing;
    acquire_found();
    message_slot const& slot = ring.slot(ticket);
    prefetch_with(slot, state_);
    return slot.header.priority == default_priority ? sight::mail : sight::other;
  }

  RONDO_HD std::uint32_t run_rest(std::uint32_t dealt, std::uint32_t most) {
    auto quota = quota_;
    bool went_on = false;
    // On a GPU, to queue an actor and to take it again costs twenty trips to the L2. Not often: mail may be taken long
    // before it is committed.
    int stays = 4;
    while (!handed_over_) {
      while (actor_.control_waits()) actor_.obey();
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
      if (actor_.release(takes_windows && stays-- > 0 && dealt < quota)) break;
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
      actor_.own.totals.publish(actor_.totals);
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
    // The caller has looked for commands just now. On a GPU, to look for a stop as well would be one trip more.
    auto const goes_on = [&] { return (loads_at_once != 1 && dealt == 0) || !actor_.is_interrupted(); };
    while (actor_.has_ring && dealt < quota && !handed_over_ && goes_on()) {
      std::uint32_t ticket = actor_.own.head;
      if (may_flood()) {
        if (dealt == 0) show_running();
        auto const n = deal_with_window(ticket, quota - dealt);
        dealt += n;
        if (n != 0) continue;
      }
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
      note_flood(dealt);
      if (dealt == 0) show_running();
      prefetch_with(actor_.ring.slot(ticket), state_);
      dealt += deal_with(ticket, quota - dealt);
    }
    return dealt;
  }

  /// Reports this actor as running. (A pinned team reports none while it waits for mail.)
  RONDO_HD void show_running() noexcept {
    actor_.status.actor.store(actor_.index + 1, memory_order::relaxed);  // relaxed: only a report
  }

  /// Waits briefly for more mail, as `pick` finds it, while no other actor needs the team. For a busy sender this is
  /// cheaper than scheduling the actor for each message. On a CPU each look takes the cache line from the sender. So
  /// the more messages a pause brought, the longer the next pause, and a single answer is still seen soon.
  RONDO_HD std::uint32_t linger(std::uint32_t& ticket, std::uint32_t dealt) {
    auto& pauses = actor_.sched.linger_pauses;
    if (pauses == 0 || actor_.sched.keeps_actor()) return 0;
    auto const brought = dealt - dealt_at_linger_;
    dealt_at_linger_ = dealt;
    if constexpr (loads_at_once == 1) {
      if (brought > 2 && pauses < 256) pauses *= 2;
      if (brought < 2 && pauses > 2) pauses /= 2;
    }
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

  /// For handle_in_order: of messages that have no mailbox.
  template <class Then>
  class order_of_direct {
   public:
    /// What one look finds.
    struct view {
      std::uint32_t stops, asked, announced, sequence;
    };
    RONDO_HD order_of_direct(slice& s, Then const& then) noexcept
        : s_(s),
          then_(then),
          own_(s.actor_.own),
          stop_(s.actor_.arena.header().stop),
          ring_(s.actor_.ring),
          next_(s.next_),
          handled_(static_cast<std::uint32_t>(s.actor_.totals.handled)),
          sample_mask_(s.sample_mask_) {}

    /// Looks for mail, but acquires none. Relaxed, all: see slice::look.
    RONDO_HD view look() const noexcept {
      return {stop_.load(memory_order::relaxed), own_.control.load(memory_order::relaxed),
              own_.announced.load(memory_order::relaxed),
              ring_.slot(next_).sequence.load(memory_order::relaxed)};
    }
    RONDO_HD bool is_clear(view const& s) const noexcept {
      return (s.stops | (s.asked & control_mask) | s.announced | ring_.count_in(next_, s.sequence)) == 0;
    }
    RONDO_HD std::uint32_t run_length(window_contents const& all, std::uint32_t i) const noexcept {
      auto const run = all.run_length(i);
      if (!with_telemetry) return run;
      auto const phase = (handled_ + i) & sample_mask_, plain = phase == 0 ? 1 : sample_mask_ + 1 - phase;
      return run < plain ? run : plain;
    }
    RONDO_HD void before(std::uint32_t i, std::uint32_t count) noexcept {
      if (i == 0) s_.show_running();
      // As many as of a mailbox's.
      sampled_ = with_telemetry && (((handled_ + i - 1) & sample_mask_) + count) > sample_mask_;
      if (sampled_) began_ns_ = rondo::now_ns();
    }
    RONDO_HD void behind(std::uint32_t, std::uint32_t) const { then_(); }
    RONDO_HD void after(message_header const& h) {
      if (sampled_)
        s_.actor_.record_latency(h.stamped() ? h.age_ns(rondo::now_ns()) : rondo::now_ns() - began_ns_);
      sampled_ = false;  // once for a batch
      if ((h.flags & flag_wants_reply) != 0 && !s_.context_.answered())
        s_.actor_.refuse(h, errc::no_reply), then_();
    }

   private:
    slice& s_;
    Then const& then_;
    owner_cell const& own_;
    atomic<std::uint32_t> const& stop_;
    mail_ring_ref const ring_;
    std::uint32_t const next_, handled_, sample_mask_;
    std::uint64_t began_ns_ = 0;
    bool sampled_ = false;
  };

  // On a GPU, where nothing is taken from the sender, for as long as it takes to release the actor and to take it
  // again.
  static constexpr int linger_looks = threads_park ? 4 : 16;

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
