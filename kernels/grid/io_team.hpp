// The reader of one ring of submissions on the device: takes them in order and carries them out in the arena. The I/O
// team reads the ring that all actors share, and each pinned team its direct ring (direct_inbox.hpp).
//
// The I/O team runs no handler and keeps no actor. It also tells the host which buffers of the device are free again.
// On a GPU the reader is a warp: its lanes fetch the submissions of a window together, write messages to the same actor
// side by side, and post messages to different actors at once.
// Threads: all lanes of one team call each function together, with the same arguments. A new io_team continues where
// the last one stopped, so bounded rounds need no hand-over; grid.hpp decides when it stops.
// A submission's slots go back to the host before its outcome is told: what a lost device has left in its ring was not
// told yet.
// Invariants: L2 to L4 of queue_pair.hpp.
#pragma once

#include "kernels/actor/launch.hpp"
#include "kernels/base/stop_word.hpp"
#include "kernels/link/queue_pair.hpp"
#include "kernels/mail/mail_window.hpp"

namespace rondo {

/// Where the lanes of a reader share what they have fetched.
struct io_window {
  submission items[bus_reader<submission>::window];
  submission batch;           // the first item of the batch that is being carried out
  reply_stage stage;          // of a pinned team
  mail_window mail;           // of a team that runs actors
  std::uint32_t epoch_ended;  // 1: some mailbox is no longer in its first epoch; for an io_team
};

/// Reads submissions in order and can refuse them; only an io_team can carry them out. Threads: as io_team, on the
/// device; on the host once the device no longer reads.
template <class Bus = prompt_bus>
class submission_reader {
 public:
  /// `host` takes the completions; it may block until their ring has room.
  RONDO_HD submission_reader(bus_ring_ref<submission, Bus> const& down, host_port const& host, team const& t,
                             io_window& window) noexcept
      : in_(down), host_(host), team_(t), window_(window) {}

  /// Completes one submission or batch with `reason` instead of carrying it out. False if there is none.
  RONDO_HD bool refuse_next(errc reason) {
    if (in_.fetch(team_, window_.items, 1) == 0) return false;
    begin_batch(window_.items[0]);
    auto const& s = window_.batch;
    if (s.kind == submission_kind::post || s.ack.valid()) conclude(s, reason);
    in_.advance(slots_of(s));
    publish();
    return true;
  }

  /// The ticket of the next submission.
  RONDO_HD std::uint64_t head() const noexcept { return in_.head(); }
  RONDO_HD host_port const& host() const noexcept { return host_; }
  /// Whether something was submitted, even if the bus does not show it yet.
  RONDO_HD bool has_work() const noexcept { return in_.was_published(); }

 protected:
  RONDO_HD static std::uint32_t slots_of(submission const& s) noexcept {
    return s.kind == submission_kind::post ? s.count : 1;
  }

  /// Keeps the first item of a batch while the window is used for the others.
  RONDO_HD void begin_batch(submission const& first) noexcept {
    if (team_.leader()) window_.batch = first;
    team_.sync();
  }
  /// Calls f(first, items, count) for the batch at the head, window by window.
  template <class F>
  RONDO_HD void for_each_window(std::uint32_t count, F f) {
    for (std::uint32_t first = 0; first < count; first += in_.window) {
      auto const n = count - first < in_.window ? count - first : in_.window;
      while (!in_.read_group(team_, window_.items, first, n))
        relax();  // a bus that combines writes may be late
      f(first, window_.items, n);
    }
  }
  RONDO_HD void publish(std::uint32_t more = 0) noexcept {
    if (team_.leader()) in_.publish(more);
  }

  /// Reports a submission's outcome to the host: through its ack, its message's ask, or dead letters (L3). `s` is
  /// alone, or the first of the batch at the head.
  RONDO_HD void conclude(submission const& s, errc reason) {
    if (slots_of(s) == 1) {
      if (team_.leader()) conclude_alone(s, reason);
      return;
    }
    in_order(s, reason, team_.leader(), [&] {
      for_each_window(s.count, [&](std::uint32_t first, submission const* items, std::uint32_t n) {
        publish(first + n);
        if (team_.leader())
          for (std::uint32_t i = 0; i < n; ++i)
            tell_end(items[i], reason, first + i == 0 ? items[i].count : 0);
      });
    });
  }
  /// The same on one lane, whichever it is, for one message.
  RONDO_HD void conclude_alone(submission const& s, errc reason) {
    in_order(s, reason, true, [&] { tell_end(s, reason, 1); });
  }
  /// What comes back is told before the ack, which ends its run; a dead letter after it, when the host's line lets
  /// others pass.
  template <class TellEnds>
  RONDO_HD void in_order(submission const& s, errc reason, bool lane_replies, TellEnds const& tell_ends) {
    bool const told = is_told(s, reason), first = lacks_room(reason);
    if (told && first) tell_ends();
    if (s.ack.valid() && lane_replies) reply(s.ack, s.to, reason);
    if (told && !first) tell_ends();
  }
  /// Whether each message gets its end, and not only the ack.
  RONDO_HD static bool is_told(submission const& s, errc reason) noexcept {
    return !s.ack.valid() || goes_back(s, reason);
  }
  /// `count`: as in returned_mail.
  RONDO_HD void tell_end(submission const& s, errc reason, std::uint32_t count) {
    if (goes_back(s, reason))
      return_message(s, reason, count);
    else if (is_ask(s))
      reply(s.body.header.reply_to, s.to, reason);
    else if (s.kind == submission_kind::post)
      emit_message(s, {.kind = event_kind::dead_letter, .reason = reason, .actor = s.to});
  }
  RONDO_HD static constexpr bool lacks_room(errc reason) noexcept {
    return reason == errc::mailbox_full || reason == errc::arena_full;
  }
  RONDO_HD static bool is_ask(submission const& s) noexcept {
    message_header const& h = s.body.header;
    return s.kind == submission_kind::post && (h.flags & flag_wants_reply) != 0 &&
           (h.reply_to.index & host_ask_bit) != 0;
  }
  /// L5.
  RONDO_HD static bool goes_back(submission const& s, errc reason) noexcept {
    if (s.kind != submission_kind::post || reason == errc::ok) return false;
    if (s.how == post_order::resent) return true;
    return s.how == post_order::in_epoch && lacks_room(reason) && !s.ack.valid() && !is_ask(s);
  }

  bus_reader<submission, Bus> in_;
  host_port host_;
  team team_;
  io_window& window_;

 private:
  RONDO_HD void reply(actor_id ask, actor_id from, errc reason) {
    device_event r{.kind = event_kind::reply, .reason = reason, .actor = from};
    r.body.header.reply_to = ask;
    host_.emit(r);
  }

  RONDO_HD void return_message(submission const& s, errc reason, std::uint32_t count) {
    bool const resent = s.how == post_order::resent;
    returned_mail const about{s.epoch.bits, static_cast<std::uint16_t>(resent + (resent && s.ack.valid())),
                              count};
    device_event r{.kind = event_kind::returned, .reason = reason, .actor = s.to};
    __builtin_memcpy(&r.detail, &about, sizeof about);
    emit_message(s, r);
  }
  RONDO_HD void emit_message(submission const& s, device_event r) {
    r.body.header = s.body.header;
    r.body.bytes = s.body.bytes;
    copy_words(r.body.payload, s.body.payload, s.body.bytes);
    host_.emit(r);
  }
};

template <class Module, class Bus = prompt_bus>
class io_team : public submission_reader<Bus> {
  using reader = submission_reader<Bus>;

 public:
  /// `orders`: the ticket below which the I/O team has carried out all that is awaited.
  RONDO_HD io_team(arena_ref arena, bus_ring_ref<submission, Bus> const& ring, atomic<std::uint64_t>& orders,
                   host_port const& host, team const& t, io_window& window) noexcept
      : reader(ring, host, t, window), scheduler_(arena), orders_(orders) {
    // Relaxed: this team has set it, in a grid before.
    if (t.leader()) window.epoch_ended = arena.header().epoch_ended.load(memory_order::relaxed);
  }

  /// Carries out submissions until `limit` messages are taken or none is left. A batch is taken whole. Returns
  /// the number of messages taken.
  RONDO_HD std::uint32_t step(std::uint32_t limit) {
    std::uint32_t taken = 0;
    while (taken < limit) {
      auto const done = carry_out(0, fetch(limit - taken));
      if (done == 0) break;
      taken += done;
    }
    return taken;
  }

  /// Fetches the next submissions into the window, `limit` at most. Returns how many.
  RONDO_HD std::uint32_t fetch(std::uint32_t limit) {
    // More than one only if there is a queue: each costs the bus a slot, and the lanes time.
    auto const expected = in_a_row_ > 1 || rest_of_batch_ != 0 ? this->in_.window : 1;
    auto const wanted = limit < expected ? limit : expected;
    auto const n = this->in_.fetch(this->team_, this->window_.items, wanted);
    in_a_row_ = n == wanted ? in_a_row_ + 1 : 0;
    return n;
  }

  /// Lane 0's value, on all lanes.
  RONDO_HD std::uint32_t share(std::uint32_t value) const noexcept { return this->team_.broadcast(value); }
  static constexpr std::uint32_t most_at_once = bus_reader<submission, Bus>::window;  // of one fetch

  /// What the lanes see of the first `n` submissions of the window: how many need no mailbox, as far as one can say
  /// without their actor. They are all to the same actor, and include one batch at most. Once the first message of a
  /// batch has been handled, the others go like single messages, also to the mailbox. All lanes call it.
  RONDO_HD window_contents find_direct_mail(std::uint32_t n) noexcept {
    auto* const items = this->window_.items;
    // The most common case, kept short: every lane looks at it itself.
    if (submission const& s = items[0]; n == 1 && rest_of_batch_ == 0 && s.count == 1) {
      batch_begin_ = batch_end_ = 0;
      message_header const& h = s.body.header;
      bool const is_direct = may_be_direct(s) && !is_late(s);
      return {is_direct, std::uint32_t{(h.flags | h.deadline) != 0}, 0};
    }
    auto const t = this->team_;
    window_judge judge;
    std::uint32_t batches = 0;
    for (auto const i : lane_range{n, t.lane(), t.lanes()}) {
      submission& s = items[i];
      submission const& before = items[i == 0 ? 0 : i - 1];
      message_header const& h = s.body.header;
      if (i < rest_of_batch_) s.count = 1;
      bool const is_direct =
          may_be_direct(s) & (s.to.index == before.to.index) & (s.to.generation == before.to.generation);
      judge.look_at(i, h, before.body.header, is_direct && !is_late(s));
      batches |= std::uint32_t{s.count != 1} << i;
    }
    auto contents = judge.judge(t, n);
    batches = t.any_bits(batches);
    batch_begin_ = 0;
    batch_end_ = rest_of_batch_;
    auto const next = batches != 0 ? static_cast<std::uint32_t>(lowest_bit(batches)) : n;
    if (rest_of_batch_ == 0 && next < contents.count && has_room_for(items[next])) {
      batch_begin_ = next;
      batch_end_ = next + items[next].count;
      if (contents.count > batch_end_) contents.count = batch_end_;
    } else if (contents.count > next) {
      contents.count = next;
    }
    return contents;
  }
  /// Whether the rest of a batch is still in the ring, of which some messages have been taken.
  RONDO_HD bool is_within_batch() const noexcept { return rest_of_batch_ != 0; }
  /// Whether the team is to leave without that rest, which on a lost device does not come. All lanes call it.
  RONDO_HD bool gives_up() const noexcept {
    auto const& stop = scheduler_.arena().header().stop;
    // Relaxed: a request.
    return this->team_.broadcast(this->team_.leader() && (stop.load(memory_order::relaxed) & leave_bit) != 0);
  }
  RONDO_HD submission* items() const noexcept { return this->window_.items; }
  /// Lane 0: gives the slots of the first `n` items back, up to a batch or an order that is awaited. `direct`: this
  /// many are no order.
  RONDO_HD void give_back(std::uint32_t direct, std::uint32_t n) {
    if (rest_of_batch_ != 0) return;
    auto i = batch_begin_ < batch_end_ ? batch_begin_ : direct;
    while (i < n && reader::slots_of(this->window_.items[i]) == 1 &&
           this->window_.items[i].kind != submission_kind::await_orders)
      ++i;
    this->publish(i);
  }

  /// Lane 0 tells the host which buffers have become free.
  RONDO_HD void report_free_buffers() {
    auto const& buffers = this->host_.buffers;
    if (buffers.size() == 0) return;
    for (auto next = buffers.take_returned(); next != 0;) {
      auto const slot = next - 1;
      next = buffers.entry(slot).next.load(memory_order::relaxed);  // relaxed: taken with the stack
      this->host_.emit({.kind = event_kind::buffer_free, .detail = slot});
    }
  }

  /// Carries out the submissions of the window from `done` to `n`, or fewer: a batch is always the first one, and what
  /// comes after an order has to wait for it. Returns the number of messages, with those that are `done`.
  RONDO_CALL RONDO_HD std::uint32_t carry_out(std::uint32_t done, std::uint32_t n) {
    auto const* const items = this->window_.items;
    // Of a batch that has just begun, the next fetch finds the rest: it is not the first one here.
    bool const within_batch = rest_of_batch_ != 0 || (batch_begin_ < batch_end_ && done > batch_begin_);
    while (done < n) {
      auto const& s = items[done];
      if (reader::slots_of(s) != 1) {
        if (done != 0) break;
        return carry_out_batch(s);
      }
      if (s.kind == submission_kind::await_orders && !has_orders(s)) break;
      auto const run = run_length(done, n);
      auto const apart = run == 1 ? count_apart(done, n) : 1;
      if (!within_batch) this->publish(done + (apart > run ? apart : run));
      if (apart > 1)
        post_apart(done, apart);
      else if (run == 1 || !post_run(done, run))
        for (auto i = done; i < done + run; ++i) carry_out_alone(i);
      done += apart > run ? apart : run;
    }
    this->in_.advance(done);
    rest_of_batch_ = within_batch && batch_end_ > done ? batch_end_ - done : 0;
    if (within_batch) this->publish();  // not before: the mailbox would have had to take the whole batch
    return done;
  }

 private:
  /// Acquire: what the I/O team has done for these orders.
  RONDO_HD bool has_orders(submission const& s) const noexcept {
    std::uint64_t needed = 0;
    __builtin_memcpy(&needed, s.body.payload, sizeof needed);
    return this->team_.broadcast(this->team_.leader() && orders_.load(memory_order::acquire) >= needed);
  }

  /// How many messages from `first` on go to the same mailbox with the same priority.
  RONDO_HD std::uint32_t run_length(std::uint32_t first, std::uint32_t n) const noexcept {
    auto const* const items = this->window_.items;
    auto const& s = items[first];
    std::uint32_t run = 1;
    if (s.kind != submission_kind::post) return run;
    for (; first + run < n; ++run) {
      auto const& next = items[first + run];
      if (next.kind != submission_kind::post || next.count != 1 || !(next.to == s.to) ||
          next.body.header.priority != s.body.header.priority)
        break;
    }
    return run;
  }

  /// How many messages from `first` on go to different mailboxes, at most one for each lane.
  RONDO_HD std::uint32_t count_apart(std::uint32_t first, std::uint32_t n) const noexcept {
    auto const& t = this->team_;
    auto const* const items = this->window_.items + first;
    auto const most = n - first < t.lanes() ? n - first : t.lanes();
    if (most < 2) return most;
    std::uint32_t ends = 1u << most;
    if (auto const i = t.lane(); i < most) {
      bool with_earlier = items[i].kind != submission_kind::post || items[i].count != 1;
      for (std::uint32_t j = 0; j < i; ++j) with_earlier = with_earlier || items[j].to == items[i].to;
      if (with_earlier) ends |= 1u << i;
    }
    return static_cast<std::uint32_t>(lowest_bit(t.any_bits(ends)));
  }
  /// Each lane posts one message. They have no order among each other.
  RONDO_HD void post_apart(std::uint32_t first, std::uint32_t count) {
    this->team_.sync();  // every lane sees which epochs lane 0 has ended
    if (auto const i = this->team_.lane(); i < count) {
      submission const& s = this->window_.items[first + i];
      auto const outcome = post(s);
      if (outcome != errc::ok || s.ack.valid()) this->conclude_alone(s, outcome);
    }
    this->team_.sync();
  }

  /// One lane posts one message.
  RONDO_HD errc post(submission const& s) {
    if (is_late(s)) return errc::mailbox_full;
    auto const outcome = scheduler_.post(s.to, s.body.header, s.body.payload, s.body.bytes);
    end_epoch(s, outcome);
    return outcome;
  }
  /// Whether a submission may be a message that needs no mailbox. Whoever awaits that it is accepted is not to await
  /// its handler. `&`: everything is loaded before anything is asked.
  RONDO_HD static bool may_be_direct(submission const& s) noexcept {
    message_header const& h = s.body.header;
    return (s.kind == submission_kind::post) & !s.ack.valid() & (h.priority == default_priority) &
           ((h.flags & ~flag_wants_reply) == 0);
  }
  /// Whether the mailbox ever has room for this batch: otherwise it is to be refused.
  RONDO_HD bool has_room_for(submission const& s) const noexcept {
    arena_ref const& arena = scheduler_.arena();
    // Relaxed: perhaps a successor's; then its handler is not called.
    return arena.has_cell(s.to.index) &&
           s.count <=
               mailbox_limits{arena.cell(s.to.index).limits.load(memory_order::relaxed)}.of(default_priority);
  }
  /// Whether the epoch of `s` is over (L5).
  RONDO_HD bool is_late(submission const& s) const noexcept {
    arena_ref const& arena = scheduler_.arena();
    // Relaxed: only this reader changes the epoch.
    if (this->window_.epoch_ended == 0 || s.how == post_order::apart || !arena.has_cell(s.to.index) ||
        arena.epoch(s.to.index, s.epoch.reserved()).load(memory_order::relaxed) == s.epoch.number())
      return false;
    // A successor may have ended it. Then the sender is to hear that the actor is gone, not that a mailbox is full.
    return arena.cell(s.to.index).generation.load(memory_order::relaxed) == s.to.generation;
  }
  /// If `s` goes back to be sent again, and no ack says so.
  RONDO_HD void end_epoch(submission const& s, errc outcome) noexcept {
    if (s.ack.valid() || !reader::lacks_room(outcome) || !reader::goes_back(s, outcome)) return;
    arena_ref const& arena = scheduler_.arena();
    // Relaxed, both: only this reader reads them.
    arena.epoch(s.to.index, s.epoch.reserved()).store(s.epoch.next().number(), memory_order::relaxed);
    arena.header().epoch_ended.store(1, memory_order::relaxed);
    this->window_.epoch_ended = 1;
  }
  /// Whether a late one is among the `count` items from `first` on. All lanes call it.
  RONDO_HD bool has_late(submission const* first, std::uint32_t count) const {
    bool late = false;
    for (std::uint32_t i = 0; this->team_.leader() && i < count; ++i) late = late || is_late(first[i]);
    return this->team_.broadcast(late);
  }

  /// False, without effect, if there is no room for all.
  RONDO_HD bool post_run(std::uint32_t first, std::uint32_t run) {
    auto const* const items = this->window_.items + first;
    if (has_late(items, run)) return false;
    auto const r = scheduler_.reserve_by_lanes(this->team_, items->to, items->body.header.priority, run);
    if (r.status != errc::ok) return false;
    fill(r, 0, items, run);
    scheduler_.announce_by_lanes(this->team_, items->to, r);
    for (std::uint32_t i = 0; i < run; ++i)
      if (items[i].ack.valid()) this->conclude(items[i], errc::ok);
    return true;
  }

  RONDO_HD std::uint32_t carry_out_batch(submission const& first) {
    this->begin_batch(first);
    submission const& s = this->window_.batch;
    reservation r{.status = errc::mailbox_full};
    if (!has_late(&s, 1)) {
      r = scheduler_.reserve_by_lanes(this->team_, s.to, s.body.header.priority, s.count);
      if (this->team_.leader()) end_epoch(s, r.status);
    }
    if (r.status == errc::ok) {
      this->for_each_window(s.count, [&](std::uint32_t from, submission const* items, std::uint32_t n) {
        fill(r, from, items, n);
      });
      scheduler_.announce_by_lanes(this->team_, s.to, r);
    }
    // Otherwise conclude reads the batch once more.
    if (r.status == errc::ok || !reader::is_told(s, r.status)) this->publish(s.count);
    if (r.status != errc::ok || s.ack.valid()) this->conclude(s, r.status);
    this->in_.advance(s.count);
    return s.count;
  }
  RONDO_HD void fill(reservation const& r, std::uint32_t first, submission const* items, std::uint32_t n) {
    scheduler_.fill_by_lanes(this->team_, r, first, n,
                             [items](std::uint32_t i) -> message const& { return items[i].body; });
  }

  RONDO_HD void carry_out_alone(std::uint32_t i) {
    if (!this->team_.leader()) return;
    submission const& s = this->window_.items[i];
    errc outcome = errc::ok;
    if (s.kind == submission_kind::launch) {
      launch_actor<Module>(scheduler_, *reinterpret_cast<launch_spec const*>(s.body.payload));
    } else if (s.kind == submission_kind::arguments) {
      place_arguments(scheduler_.arena(), *reinterpret_cast<launch_arguments const*>(s.body.payload));
    } else if (s.kind == submission_kind::open_buffer || s.kind == submission_kind::close_buffer) {
      buffer_order order;
      __builtin_memcpy(&order, s.body.payload, sizeof order);
      if (s.kind == submission_kind::open_buffer)
        this->host_.buffers.open_as(order.ref, reinterpret_cast<std::byte*>(order.base));
      else
        this->host_.buffers.release(order.ref);  // free at once, or when its last lease ends
    } else if (s.kind == submission_kind::signal) {
      outcome = scheduler_.signal(s.to, s.count) ? errc::ok : errc::actor_gone;
    } else if (s.kind == submission_kind::post) {
      outcome = post(s);
    }
    if (is_awaited(s.kind))  // release: pairs with has_orders
      orders_.store(this->in_.head() + i + 1, memory_order::release);
    if (outcome != errc::ok || s.ack.valid()) this->conclude(s, outcome);
  }

  std::uint32_t in_a_row_ = 0;  // looks that have found all that they looked for
  // The batch among the direct mail, as numbers of items: from the first up to, without, the second. Equal: none.
  std::uint32_t batch_begin_ = 0, batch_end_ = 0;
  std::uint32_t rest_of_batch_ = 0;  // messages in the ring of a batch of which some were taken
  scheduler scheduler_;
  atomic<std::uint64_t>& orders_;
};

}  // namespace rondo
