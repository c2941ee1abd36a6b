// A slice, one turn of one actor: obey control, handle up to a quota of messages, count them, release the actor.
//
// Threads: lane 0 of the team that owns the actor.
#pragma once

#include "kernels/actor/mail_handler.hpp"

namespace rondo {

template <class Module>
class slice : private mail_handler<Module> {
  using base = mail_handler<Module>;
  using base::alone_, base::arena_, base::behaviour_, base::cell_, base::context_, base::discarding_,
      base::handed_over_, base::has_ring_, base::index_, base::journal_, base::knows_next_, base::own_mail_,
      base::paused_, base::priority_lists, base::quota_, base::ring_, base::scheduler_, base::self_,
      base::state_, base::status_, base::totals_;

 public:
  using base::base, base::run_tile, base::close;

  /// Runs the actor until it has no mail, or for `quotas` quotas; for one quota if other actors wait for the team.
  /// Returns the number of completed messages.
  RONDO_HD std::uint32_t run(std::uint32_t quotas) {
    this->note_depth();
    return run_rest(0, quotas * quota_);
  }

  /// Continues with the actor after the last tile of the wide message `ticket`.
  RONDO_CALL RONDO_HD std::uint32_t resume(std::uint32_t ticket, errc failure) {
    this->end_wide(ticket, failure);
    return run_rest(1, quota_);
  }

  /// A pinned team's turn: handles the mail that has arrived and keeps the actor. False once the actor is gone.
  RONDO_HD bool poll(std::uint32_t& dealt) {
    for (dealt = 0; dealt < quota_;) {
      auto const seen = look();
      if (seen == sight::other || (seen == sight::nothing && own_mail_ != 0)) break;
      if (seen == sight::nothing) {
        // On a GPU a look takes no cache line from the sender.
        if (!threads_park || dealt == 0) return true;
        std::uint32_t ticket = 0;
        bool const more = linger(ticket, dealt) != 0;
        in_turn_ = priority_lists().in_order();  // its looks may have linked urgent mail
        if (!more) return true;
        continue;
      }
      if (dealt == 0) show_running();
      auto const n = this->deal_with(next_, quota_ - dealt);
      next_ = (next_ + n) & ticket_mask;
      dealt += n;
    }
    if (this->control_waits()) show_running(), this->obey();
    if (!has_ring_) this->look_at_word();
    this->note_depth();
    if (!paused_) dealt += handle_mail(quota_ - dealt);
    if (own_mail_ != 0) dealt += this->handle_own_mail();
    knows_next_ = false;
    if (!this->closing()) return true;
    show_running();
    return !this->end_when_empty();
  }
  /// Handles a message that has come to a pinned team by its direct ring, without a mailbox, if it is the next one
  /// anyway: no mail waits, and its handler takes one message at a time, on one lane. Otherwise false: it belongs in
  /// the mailbox.
  RONDO_HOT RONDO_HD bool handle_now(actor_id to, message& m) {
    message_header& h = m.header;
    prefetch(state_);
    auto const seen = look<memory_order::relaxed>();  // no mail: so there is none to acquire
    bool const plain = (h.flags & ~flag_wants_reply) == 0 && h.priority == default_priority &&
                       journal_ == 0 && alone_ && to == self_;
    if (!plain || seen != sight::nothing) return false;
    auto const began_ns = h.deadline != 0 || this->is_sampled() ? rondo::now_ns() : 0;
    if (h.deadline != 0 && h.expired(began_ns)) return false;
    show_running();
    status_.begin(h.type);
    context_.begin(h);
    if (Module::handle_one(behaviour_, state_, context_, m) != handler_kind::one) return false;
    if (context_.failure() != errc::ok) [[unlikely]]
      return conclude_failed(m);
    if (this->is_sampled())
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
    auto const mail = ring_.count_at(next_, Order);
    if ((control & control_mask) != 0 || announced != 0) return sight::other;
    if (mail > 1) return sight::other;
    if (mail == 0 || Order == memory_order::relaxed) return mail != 0 ? sight::mail : sight::nothing;
    return priority_lists().has_default_priority(next_) ? sight::mail : sight::other;
  }

  RONDO_HD std::uint32_t run_rest(std::uint32_t dealt, std::uint32_t most) {
    auto quota = quota_;
    bool went_on = false;
    while (!handed_over_) {
      if (this->control_waits()) this->obey();
      if (!paused_ && dealt < quota) dealt += handle_mail(quota - dealt);
      if (handed_over_) break;
      // Once at least: mail that never ends is not to keep it waiting. Not again beyond the quota: then others have
      // their turn.
      bool const goes_on = own_mail_ != 0 && (dealt < quota || !went_on);
      if (goes_on) {
        went_on = true;
        dealt += this->handle_own_mail();
      }
      // Behind all that may fail and so close the actor: once released, it would not be run again if no mail waits.
      if (this->closing() && this->end_when_empty()) break;
      if (goes_on && own_mail_ != 0 && dealt < quota && !scheduler_.sees_work() && !arena_.stopping())
        continue;
      if ((dealt >= quota || run_waits_) && quota < most && !scheduler_.sees_work()) {
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
    run_waits_ = false;
    while (has_ring_ && dealt < quota && !handed_over_ && !arena_.stopping() && !this->control_waits()) {
      std::uint32_t ticket = 0;
      auto count = priority_lists().pick(ticket);
      // Within a team, the message that was handled has usually made another actor ready.
      if (count == 0 && dealt != 0 && !scheduler_.keeps_actor()) count = linger(ticket, dealt);
      if (count != 1) [[unlikely]] {
        if (!sends_runs || count == 0) break;
        run_waits_ = dealt != 0 && count > quota - dealt;
        if (run_waits_) break;
        if (dealt == 0) show_running();
        dealt += this->deal_with_run(ticket, count, quota - dealt);
        continue;
      }
      if (dealt == 0) show_running();
      dealt += this->deal_with(ticket, quota - dealt);
    }
    return dealt;
  }

  /// Reports this actor as running. (A pinned team reports none while it waits for mail.)
  RONDO_HD void show_running() noexcept {
    status_.actor.store(index_ + 1, memory_order::relaxed);  // relaxed: only a report
  }

  /// Waits briefly for more mail, as `pick` finds it, while no other actor needs the team. For a busy sender this is
  /// cheaper than scheduling the actor for each message. Each look takes the cache line from the sender. So the more
  /// messages a pause brought, the longer the next pause, and a single answer is still seen soon.
  RONDO_HD std::uint32_t linger(std::uint32_t& ticket, std::uint32_t dealt) {
    auto& pauses = scheduler_.linger_pauses;
    if (pauses == 0 || scheduler_.keeps_actor()) return 0;
    auto const brought = dealt - dealt_at_linger_;
    dealt_at_linger_ = dealt;
    if (brought > 2 && pauses < 256) pauses *= 2;
    if (brought < 2 && pauses > 2) pauses /= 2;
    for (int look = 0; look < linger_looks && !scheduler_.sees_work(); ++look) {
      for (std::uint32_t i = 0; i < pauses; ++i) relax();
      if (auto const count = priority_lists().pick(ticket)) return count;
    }
    return 0;
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

  static constexpr int linger_looks = 4;

  // For `look`, while knows_next_: the oldest message. in_turn_: it is the next one.
  std::uint32_t next_;
  bool in_turn_;
  bool run_waits_ = false;  // the next messages are a run, for which the rest of the quota is too short
  std::uint32_t dealt_at_linger_ = 0;
};

}  // namespace rondo
