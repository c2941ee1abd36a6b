// Handles the messages in a mailbox for the team that owns the actor: calls the handler, and does what follows.
//
// Threads: lane 0 of the team that owns the actor. A wide message may complete on another team than the one that began
// it; ownership then passes to that team.
#pragma once

#include "kernels/actor/actor_owner.hpp"

namespace rondo {

template <class Module>
class mail_handler : protected actor_owner<Module> {
  using base = actor_owner<Module>;

 public:
  using base::base;

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
  using base::arena_, base::cell_, base::crew_, base::host_, base::index_, base::ring_, base::scheduler_,
      base::self_, base::team_, base::totals_, base::own_mail_, base::has_ring_, base::journal_,
      base::paused_, base::priority_lists;

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
      result = outcome();
    } else {
      kind = Module::kind_of(behaviour_, h.type);
      if (kind == handler_kind::one)
        result = crew_.run({handler_call::what::one, index_, ticket, 1}, self_, &own_mail_);
    }
    if (kind == handler_kind::one) return conclude_one(ticket, h, result), 1;
    if (kind == handler_kind::none) return dispose(ticket, errc::unknown_message), 1;
    if (kind == handler_kind::wide) return begin_wide(ticket), 1;
    std::uint32_t const count = batch_length(ticket, quota);
    conclude_batch(ticket, count,
                   crew_.run({handler_call::what::batch, index_, ticket, count}, self_, &own_mail_));
    return count;
  }

  /// The same for a run of `count` messages, which is handled as it lies if each of them goes the common way. `quota`:
  /// at least `count`, if it is to be.
  RONDO_CALL RONDO_HD std::uint32_t deal_with_run(std::uint32_t ticket, std::uint32_t count,
                                                  std::uint32_t quota) {
    mail_run const run{ring_, ticket, count};
    auto const h = run.header(0);
    auto const kind = Module::kind_of(behaviour_, h.type);
    bool const together = kind == handler_kind::batch;
    if (journal_ != 0 || !alone_ || discarding_ || count > quota ||
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
      bool const goes_on =
          ok && priority_lists().has_next_in_order() && !this->control_waits() && !arena_.stopping();
      if (!goes_on) [[unlikely]]
        run.unpack(i, copy);
      if (!ok) [[unlikely]] {
        on_batch_failed((ticket + i) & ticket_mask, n, outcome());
        return i + n;
      }
      totals_.handled += n;
      if (i == 0 && (h.flags & flag_sampled) != 0) this->record_latency(h.age_ns(rondo::now_ns()));
      // `take`, because by now this may be a single message among others.
      n == 1 ? priority_lists().take((ticket + i) & ticket_mask) : priority_lists().take_many(n);
      i += n;
      if (i == count || !goes_on) return i;
    }
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
  RONDO_HD std::uint32_t batch_length(std::uint32_t ticket, std::uint32_t quota) const noexcept {
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
  RONDO_CALL RONDO_HD void conclude_batch(std::uint32_t ticket, std::uint32_t count,
                                          call_result const& result) {
    if (result.failure != errc::ok) return on_batch_failed(ticket, count, result);
    totals_.handled += count;
    for (std::uint32_t i = 0; i < count; ++i)
      if (message_header const& h = ring_.slot(ticket + i).header;
          (h.flags & settled_flags) != 0 || journal_ != 0)
        settle(h, result.answered, count == 1 ? result.digest : untold_digest);
    // A single message may have been picked by priority and need not be the oldest.
    count == 1 ? priority_lists().take(ticket) : priority_lists().take_many(count);
  }

  /// Of the handler that context_ was given to.
  RONDO_HOT RONDO_HD call_result outcome() const noexcept {
    return {context_.failure(), context_.answered(), context_.how(), 0, context_.digest()};
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
  bool knows_next_ = false;  // what `slice` knows of the next message still holds
  bool discarding_ = false;
  bool handed_over_ = false;  // another team now owns the actor
  std::uint32_t const sample_mask_ = arena_.shape().latency_sample_every - 1;

 private:
  /// A message of a run, as Module::handle_one takes it.
  struct mail_in_run {
    message_header const& header;
    std::byte const* payload;
  };
};

}  // namespace rondo
