// An owned actor whose mail is handled: the way of each message, or of several at once, through its handler to its
// outcome.
//
// Threads: lane 0 of the team that owns the actor. A wide message may complete on another team than the one that began
// it; ownership then passes to that team.
#pragma once

#include "kernels/actor/owned_actor.hpp"

namespace rondo {

template <class Module>
class running_actor {
 public:
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

 protected:
  /// Precondition: the caller owns actor `index` (scheduler::claim).
  RONDO_HD running_actor(scheduler& sched, team const& t, host_port const& host, std::uint32_t index) noexcept
      : actor_(sched, t, host, index) {}

  /// Handles or disposes of the message `ticket` (and, for a batch handler, its neighbours).
  RONDO_HOT RONDO_HD std::uint32_t deal_with(std::uint32_t ticket, std::uint32_t quota) {
    message_slot const& slot = actor_.ring.slot(ticket);
    message_header const& h = slot.header;
    prefetch_behind(ticket, quota);
    if (discarding_) [[unlikely]]
      return dispose(ticket, errc::terminated), 1;
    if (h.deadline != 0 && h.expired(rondo::now_ns())) [[unlikely]]
      return dispose(ticket, errc::timed_out), 1;
    actor_.status.begin(h.type);
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
    // On a GPU a handler of many would wait for each payload; to fetch a window costs what four of them do.
    if (takes_windows && by_windows_ && count > 4 && actor_.priority_lists().in_order())
      if (auto const n = deal_with_window(ticket, quota)) return n;
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
    actor_.status.begin(h.type);
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

  // -- mail by windows

  /// A message waits, behind `dealt` that this turn has handled: there may be many.
  RONDO_HD void note_flood(std::uint32_t dealt) noexcept {
    if constexpr (takes_windows) floods_ = dealt != 0 && by_windows_ && actor_.priority_lists().in_order();
  }
  RONDO_HD bool may_flood() const noexcept { return takes_windows && floods_ && !discarding_; }

  /// Handles the messages that are in the mailbox from `ticket` on, the oldest one, as long as each of them goes the
  /// common way and comes next. Returns how many, at most `quota`; 0 if there is none.
  RONDO_CALL RONDO_HD std::uint32_t deal_with_window(std::uint32_t ticket, std::uint32_t quota) {
    std::uint32_t handled = 0;
    if constexpr (takes_windows) {
      floods_ = false;
      auto const most = quota < mail_window::most ? quota : mail_window::most;
      auto const contents = actor_.crew.fetch({actor_.ring, ticket, most});
      // Behind the fence of the fetch: what was announced before a message of the window was committed is seen here.
      order_of_window order{*this, ticket};
      auto const seen = order.look();
      prefetch(state_);
      if (contents.count == 0 || !order.is_clear(seen)) return 0;
      auto const end = handle_in_order(contents, actor_.host.mail->slots, order, seen, false);
      handled = end.handled;
      actor_.totals.handled += handled;
      if (handled != 0) actor_.own.overtakes = 0;
      floods_ = handled != 0;
      if (end.kind != handler_kind::one) by_windows_ = end.kind == handler_kind::none;
      if (end.failed == 0) return handled;
      on_batch_failed((ticket + handled) & ticket_mask, end.failed, outcome());
      handled += end.failed;
    }
    return handled;
  }

  // -- messages that have come together, from wherever

  struct end_of_order {
    std::uint32_t handled;
    std::uint32_t failed;  // the next ones, of one call, of which nothing else is done
    handler_kind kind;     // of the next one, or of all: then `one`
  };
  /// Handles messages that lie one behind the other, on this lane, as long as each of them goes the common way and is
  /// the next one; those of a batch handler in batches. `order` says what may come before (`look`, `is_clear`), how
  /// many go one after the other (`run_length`), and what is done around them: `before` a run or a batch; `behind` each
  /// call of the handler; and `after` a message that was alone or special. `seen`: the last look, unless `looks` says
  /// that a new one is due.
  template <class Mail, class Order>
  RONDO_HOT RONDO_HD end_of_order handle_in_order(window_contents const& contents, Mail const* mail,
                                                  Order& order, typename Order::view seen, bool looks) {
    // Copies, which stay in registers on a GPU: this object is in memory.
    auto const all = contents;
    auto const behaviour = behaviour_;
    auto* const state = state_;
    auto& status = actor_.status;
    glance_timer glances{actor_.sched};
    std::uint32_t i = 0, told = 0;
    auto kind = handler_kind::one;
    std::uint32_t failed = 0;
    bool goes_on = true;
    while (goes_on && i < all.count) {
      if (looks) seen = order.look();
      if (looks && !order.is_clear(seen)) break;
      if (looks) glances.restart();
      looks = false;
      auto const end = i + order.run_length(all, i);
      auto const* const first = mail + i;
      message_header const& h = message_in(*first).header;
      bool const is_special = (all.special >> i & 1) != 0;  // and alone
      if (is_special && h.deadline != 0 && h.expired(rondo::now_ns())) [[unlikely]]
        break;
      order.before(i, 1);
      status.begin_behind(i - told, h.type);
      told = i;
      kind = Module::handle_each(behaviour, state, context_, first, [&] {
        // All that is asked here is loaded before it is asked: on a GPU that takes one trip to the L1.
        auto const failure = context_.failure();
        auto const due = glances.due();
        failed = failure != errc::ok;
        if (failed != 0) [[unlikely]]
          return false;
        ++i;
        order.behind(i, 1);
        if (due != glance_timer::not_yet) {
          // It is not done here: a look is assigned at one place, so that nobody waits to copy it.
          looks = due == glance_timer::now;
          if (looks) return false;
          goes_on = order.is_clear(seen);
          seen = order.look();
        }
        return goes_on && i != end;
      });
      if (kind == handler_kind::batch) {
        auto n = all.batch_length(i);
        if (n > most_at_once_) n = most_at_once_;
        order.before(i, n);
        context_.begin(h);
        auto const in_first = reinterpret_cast<std::byte const*>(message_in(*first).payload) -
                              reinterpret_cast<std::byte const*>(first);
        Module::handle_batch(behaviour, state, context_, h.type,
                             {reinterpret_cast<std::byte const*>(first), static_cast<std::uint32_t>(in_first),
                              sizeof(Mail), ~0u},
                             n);
        failed = context_.failure() != errc::ok ? n : 0;
        if (failed != 0) break;
        kind = handler_kind::one;
        for (std::uint32_t m = 0; m < n; ++m)
          if (m == 0 || (all.special >> (i + m) & 1) != 0) order.after(message_in(first[m]).header);
        i += n;
        order.behind(i, n);
        looks = glances.due() != glance_timer::not_yet;
        continue;
      }
      if (kind != handler_kind::one || failed != 0) break;
      order.after(h);
    }
    status.has_done(i - told);
    return {i, failed, kind};
  }
  /// Of a window of the mailbox.
  class order_of_window {
   public:
    /// What one look finds.
    struct view {
      std::uint32_t linked, stops, asked, announced;
    };
    RONDO_HD order_of_window(running_actor& r, std::uint32_t ticket) noexcept
        : r_(r),
          cell_(r.actor_.cell),
          own_(r.actor_.own),
          stop_(r.actor_.arena.header().stop),
          ring_(r.actor_.ring),
          ticket_(ticket) {}

    /// Relaxed, all: as in slice::look. They are of one trip, for which nobody waits before `is_clear`.
    RONDO_HD view look() const noexcept {
      return {as_atomic(own_.linked).load(memory_order::relaxed), stop_.load(memory_order::relaxed),
              own_.control.load(memory_order::relaxed), own_.announced.load(memory_order::relaxed)};
    }
    RONDO_HD static bool is_clear(view const& s) noexcept {
      return (s.linked | s.stops | (s.asked & control_mask) | s.announced) == 0;
    }
    RONDO_HD static std::uint32_t run_length(window_contents const& all, std::uint32_t i) noexcept {
      return all.run_length(i);
    }
    RONDO_HD void before(std::uint32_t, std::uint32_t) const noexcept {}
    /// Each slot goes back before the next handler runs, however long that takes.
    RONDO_HD void behind(std::uint32_t handled, std::uint32_t count) noexcept {
      own_.set_head(ticket_ + handled);
      if (r_.actor_.arena.has_gates()) return cell_.gate.give_room(count);
      for (auto i = handled - count; i != handled; ++i) ring_.give_back((ticket_ + i) & ticket_mask);
    }
    RONDO_HD void after(message_header const& h) const {
      if ((h.flags & settled_flags) != 0) [[unlikely]]
        r_.settle(h, r_.context_.answered(), 0);
    }

   private:
    running_actor& r_;
    actor_cell& cell_;
    owner_cell& own_;
    atomic<std::uint32_t> const& stop_;
    mail_ring_ref const ring_;
    std::uint32_t const ticket_;
  };
  /// Between two messages that come together, on a GPU: whether it is time to look again what comes next. What this
  /// thread does is looked at at once; what others do, once the handlers since have taken as long as a look, a trip to
  /// the L2. If they took no longer than two, it is enough to see what the last look has found, and to look again for
  /// the next time: so nobody waits for a look. On a host it is always time.
  class glance_timer {
   public:
    enum when : std::uint8_t { not_yet, again, now };
    // In cycles. A look has come by the first, even if others use the L2; from the second on it is too old.
    static constexpr std::uint32_t trip = 384, longest = 768;

    RONDO_HD explicit glance_timer(scheduler& sched) noexcept : sched_(sched) {
      if constexpr (takes_windows) sched_.take_new_order();
    }
    /// Somebody has just waited for a look.
    RONDO_HD void restart() noexcept {
#if defined(__CUDA_ARCH__)
      last_ = now_cycles();
#endif
    }
    RONDO_HD when due() noexcept {
#if defined(__CUDA_ARCH__)
      auto const cycles = now_cycles();
      auto const since = cycles - last_;
      bool const own = sched_.take_new_order();
      if (!own && since < trip) return not_yet;
      last_ = cycles;
      if (!own && since < longest) return again;
#endif
      return now;
    }

   private:
    scheduler& sched_;
#if defined(__CUDA_ARCH__)
    std::uint32_t last_ = now_cycles();
#endif
  };

  /// On a GPU: what the handler will need comes together with the header. The L1 fetches 32 bytes at a time.
  RONDO_HOT RONDO_HD static void prefetch_with([[maybe_unused]] message_slot const& slot,
                                               [[maybe_unused]] std::byte* state) noexcept {
#if defined(__CUDA_ARCH__)
    prefetch(slot.payload);
    prefetch(state);
    prefetch(state + 32);
#endif
  }
  /// On a host: the messages behind this one. On a GPU they would not stay: the next look acquires.
  RONDO_HOT RONDO_HD void prefetch_behind([[maybe_unused]] std::uint32_t ticket,
                                          [[maybe_unused]] std::uint32_t quota) const noexcept {
#if !defined(__CUDA_ARCH__)
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
    actor_.own.totals.publish(actor_.totals);  // for the team that continues with the actor
    actor_.save_own_mail();                    // likewise
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

  static constexpr int settled_flags = flag_wants_reply | flag_sampled | flag_traced;

  owned_actor<Module> actor_;

  // Read once because every message needs them, and most are on a cache line that senders keep writing.
  std::uint16_t const behaviour_ = actor_.cell.behaviour();
  std::byte* const state_ = actor_.arena.state(actor_.cell);
  std::uint32_t const quota_ = actor_.arena.shape().quota;
  std::uint32_t const most_at_once_ = actor_.turn.batch();
  bool const alone_ = actor_.team.lanes() == 1 || Module::width_of(behaviour_) != width::whole_team;
  rondo::team const solo_{actor_.team.index()};
  context context_{actor_.sched, solo_, actor_.host, actor_.self, &actor_.own_mail};
  bool knows_next_ = false;  // what is known of the next message still holds
  bool discarding_ = false;
  // Its handlers run on one lane, one after the other, and nobody asks for a report of each.
  bool by_windows_ = takes_windows && alone_ && actor_.journal == 0 && actor_.host.mail != nullptr;
  bool floods_ = false;       // more mail waited than was handled; only by_windows_
  bool handed_over_ = false;  // another team now owns the actor, or a pack

 private:
  /// A message of a run, as Module::handle_one takes it.
  struct mail_in_run {
    message_header const& header;
    std::byte const* payload;
  };

  // Far enough ahead to hide a cache line's transfer from another core, with a few messages in flight.
  static constexpr std::uint32_t prefetch_distance = 8;
};

}  // namespace rondo
