// The scheduler: sends messages, claims an actor to run, and releases it.
//
// Threads: `scheduler` is one thread's view; any number of them share an arena. It keeps one mail ring from one actor
// to the next.
#pragma once

#include "kernels/base/clock.hpp"
#include "kernels/base/team.hpp"
#include "kernels/mail/mail_window.hpp"
#include "kernels/mail/mailbox.hpp"
#include "kernels/mail/priority_lists.hpp"
#include "kernels/mail/ready_actors.hpp"

namespace rondo {

/// Whether what is most common within a team takes a shorter way. On a GPU that would cost registers, and has not been
/// measured.
#if defined(__CUDA_ARCH__)
inline constexpr bool has_short_way = false;
#else
inline constexpr bool has_short_way = true;
#endif

class scheduler : public ready_actors {
 public:
  scheduler() = default;
  /// A host thread's view is not a team: it never keeps an actor for itself.
  RONDO_HD explicit scheduler(arena_ref arena, bool is_team = false) noexcept
      : ready_actors(arena, is_team), sample_mask_(arena.shape().latency_sample_every - 1) {}

  /// Sends one message. Fails with actor_gone, mailbox_full, or arena_full.
  RONDO_HOT RONDO_HD errc post(actor_id to, message_header const& header, void const* payload,
                               std::uint32_t bytes, bool want_room = false) noexcept {
    bool const may_be_first = has_short_way && sender_.spare_ring != 0 &&
                              header.priority == default_priority && !arena_.has_gates();
    if (may_be_first && post_first(to, header, payload, bytes)) return errc::ok;
    return post_to_any(to, header, payload, bytes, want_room);
  }

  /// Sends `count` messages of one type, `stride` bytes apart, all or none. They are adjacent in
  /// the mailbox.
  RONDO_HD errc post_batch(actor_id to, message_header const& header, std::byte const* payloads,
                           std::uint32_t bytes, std::uint32_t stride, std::uint32_t count,
                           bool want_room = false) noexcept {
    if (count == 0) return errc::ok;
    auto const r = take_tickets(to, header.priority, count, want_room);
    if (r.status != errc::ok) return r.status;
    announce_priority(to.index, r, header.priority, count);
    auto const most = stride == bytes ? mail_run::longest(r.ring, header, arena_.shape().quota) : 1;
    message_header const with_time = is_sampled(r.ticket, count) ? sampled(header) : header;
    for (std::uint32_t i = 0, n = 0; i < count; i += n) {
      auto const ticket = r.ticket + i;
      auto const& h = is_sampled(ticket) ? with_time : header;
      auto const* const from = payloads + std::uint64_t{i} * stride;
      n = count - i < most ? count - i : most;
      // A message that is sampled begins a run.
      if (auto const to_next = (-(ticket + 1) & sample_mask_) + 1; with_telemetry && to_next < n) n = to_next;
      if (n == 1)
        fill(r.ring, ticket, h, from, bytes);
      else
        mail_run(r.ring, ticket, n, bytes, h).fill(from);
    }
    announce(to.index, r);
    return errc::ok;
  }

  // -- the same in three steps for a team whose lanes write the messages side by side; all lanes call each of them

  /// Takes `count` adjacent tickets, or none: `status` says why. The lanes then fill them without blocking.
  RONDO_HD reservation reserve_by_lanes(team const& t, actor_id to, std::uint8_t priority,
                                        std::uint32_t count) noexcept {
    reservation r;
    if (t.leader()) {
      r = take_tickets(to, priority, count, false);
      if (r.status == errc::ok) announce_priority(to.index, r, priority, count);
    }
    r.status = t.broadcast(r.status);
    r.ticket = t.broadcast(r.ticket);
    r.ring.slots = t.broadcast(r.ring.slots);
    r.ring.slot_count = t.broadcast(r.ring.slot_count);
    return r;
  }
  /// Writes `count` messages from the ticket `first` of the reservation on; message_of(i) returns the i-th one.
  template <class MessageOf>
  RONDO_HD void fill_by_lanes(team const& t, reservation const& r, std::uint32_t first, std::uint32_t count,
                              MessageOf message_of) noexcept {
    for (auto i : lane_range{count, t.lane(), t.lanes()}) {
      message const& m = message_of(i);
      auto const ticket = r.ticket + first + i;
      fill(r.ring, ticket, is_sampled(ticket) ? sampled(m.header) : m.header, m.payload, m.bytes);
    }
  }
  RONDO_HD void announce_by_lanes(team const& t, actor_id to, reservation const& r) noexcept {
    t.sync();  // all have filled theirs
    if (t.leader()) announce(to.index, r);
  }

  /// Asks the owner of `to` to look at control_bits before its mail. False if the actor is gone. Also true if the actor
  /// terminates during the call, perhaps because of this signal: its `terminated` event is still to come.
  RONDO_HD bool signal(actor_id to, std::uint32_t control) noexcept {
    if (!arena_.has_cell(to.index)) return false;
    note_new_order();
    actor_cell& cell = arena_.cell(to.index);
    auto& word_of_control = arena_.owner(cell).control;
    auto asked = word_of_control.load(memory_order::relaxed);  // relaxed: the exchange validates it
    std::uint32_t next_asked = 0;
    do {
      auto of = asked & ~control_mask;
      // Relaxed: who knows the id sees its launch.
      if (of == 0 && cell.generation.load(memory_order::relaxed) == 1) of = control_for(1, 0);
      if (of != control_for(to.generation, 0)) return false;
      next_asked = with_control(of | (asked & control_mask), control);
    } while (
        // Relaxed: only bits, and the word's exchange below releases them.
        !word_of_control.compare_exchange(asked, next_asked, memory_order::relaxed, memory_order::relaxed));
    auto bits = cell.word.load(memory_order::relaxed);  // relaxed: the exchange validates it
    for (;;) {
      actor_word const word{bits};
      if (!word.of_generation(to.generation)) return true;
      bool const pinned = word.has(actor_word::pinned);
      bool const queueing = !word.has(actor_word::running) && (pinned || !word.has(actor_word::queued_in(0)));
      auto next = word.with(actor_word::signalled);
      if (queueing) next = next.queued_for(0);
      // Release: pairs with obey, which clears the bit and then looks at control.
      if (cell.word.compare_exchange(bits, next.bits(), memory_order::release, memory_order::relaxed)) {
        if (queueing) make_ready(cell, to.index, 0, pinned);
        return true;
      }
    }
  }

  /// The next actor to run, which the caller then owns. The most urgent band comes first; every 64th call begins at the
  /// last band, so that a flood of urgent actors cannot starve the others.
  RONDO_HD bool next(std::uint32_t& index) noexcept {
    if (next_kept(index)) return true;
    bool const backwards = (++looks_ & 63) == 0;
    was_kept_ = false;
    share_kept();
    kept_in_a_row_ = 0;
    auto const waiting = bands_to_look_at();
    for (int i = 0; i < ready_bands; ++i) {
      int const band = backwards ? ready_bands - 1 - i : i;
      if ((waiting >> band & 1) == 0) continue;
      while (arena_.ready(band).try_pop(index))
        if (claim(index, actor_word::queued_in(band))) return true;
    }
    return false;
  }

  /// The same for an actor that this thread keeps, unless others come first; at most 32 times in a row, so that two
  /// actors that send to each other do not starve the queues.
  RONDO_HD bool next_kept(std::uint32_t& index) noexcept {
    bool const others_first = kept_in_a_row_ == 32 || ((looks_ + 1) & 63) == 0;
    if (kept_ == 0 || others_first || !nothing_before(kept_band_)) return false;
    ++looks_;
    ++kept_in_a_row_;
    index = kept_ - 1;
    kept_ = 0;
    return was_kept_ = claim(index, actor_word::queued_in(kept_band_));
  }

  /// The same if takes(index); otherwise, others can take what this thread keeps.
  template <class Takes>
  RONDO_HD bool next_kept_if(Takes const& takes, std::uint32_t& index) noexcept {
    if (keeps_actor() && takes(kept_ - 1) && next_kept(index)) return true;
    share_kept();
    return false;
  }
  /// Of all lanes of a team (ready_queue_ref::try_pop_by_lanes): an actor that this lane then owns.
  template <class Takes>
  RONDO_HD bool next_by_lanes(team const& t, int band, Takes const& takes, std::uint32_t& index) noexcept {
    return arena_.ready(band).try_pop_by_lanes(t, index, takes) && claim(index, actor_word::queued_in(band));
  }

  /// Takes ownership of an actor and clears `queued`, the bits of the queues from which it was taken; 0: it is the
  /// caller's pinned actor. False if a team runs it, if it is paused, or if it is pinned and the entry was an earlier
  /// actor's.
  RONDO_HOT RONDO_HD bool claim(std::uint32_t index, std::uint64_t queued) noexcept {
    actor_cell& cell = arena_.cell(index);
    auto bits = cell.word.load(memory_order::relaxed);  // relaxed: the exchange acquires
    for (;;) {
      actor_word const word{bits};
      bool const runnable = !word.has(actor_word::running) &&
                            (!word.has(actor_word::paused) || word.has(actor_word::signalled)) &&
                            (queued == 0 || !word.has(actor_word::pinned));
      auto next = word.without(queued);
      if (runnable) next = next.with(actor_word::running);
      // Acquire: the previous owner's work, and the senders' rings. Release, if another team runs the actor: the urgent
      // mail behind this entry. That owner finds the word changed, and sees the mail before it releases the actor.
      if (runnable
              ? cell.word.compare_exchange(bits, next.bits(), memory_order::acquire, memory_order::relaxed)
              : cell.word.compare_exchange(bits, next.bits(), memory_order::release, memory_order::relaxed))
        return runnable;
    }
  }

  /// What the owner finds when it releases an actor. One byte: three that are stored one by one would be waited for.
  struct released {
    bool still_owned : 1 =
        false;                   // not released: mail arrived (mail_left), or a signal: look at control again
    bool mail_left : 1 = false;  // and the actor is not paused
    bool room_wanted : 1 = false;  // a sender waits for room; the caller must notify the host
  };

  /// Gives up ownership: queues the actor again if mail is left, otherwise leaves it idle (W3). Publishes
  /// `totals`. `own_mail`: own_mail_bits that are left; that mail is the least urgent. `may_stay`: an actor that has
  /// mail is not released.
  RONDO_HD released release(std::uint32_t index, actor_totals& totals, std::uint32_t own_mail = 0,
                            bool may_stay = false) noexcept {
    actor_cell& cell = arena_.cell(index);
    auto& own = arena_.owner(cell);
    if (has_short_way && was_kept_ && own_mail == 0 && !arena_.has_gates() &&
        release_with_ring(cell, own, totals))
      return {};
    std::uint64_t bits = 0;
    for (bool looks = true;;) {
      if (looks) bits = cell.word.load(polling);
      actor_word const word{bits};
      if (word.has(actor_word::signalled)) return {.still_owned = true};
      if (word.ring() != 0) adopt_ring(own, word);
      auto const waiting = word.ring() == 0 ? 0 : (word.tail() - own.head) & ticket_mask;
      if (waiting != 0)
        acquire_found();  // mail, and what a team that found the actor running has seen; see claim
      int const urgent = waiting == 0 ? -1 : most_urgent_band(cell, own, word, waiting);
      bool const mail = urgent >= 0;
      if (mail && may_stay) return {.still_owned = true, .mail_left = true};
      int const band = mail ? urgent : ready_bands - 1;
      // An entry in a less urgent band's queue is not enough.
      bool const queueing = (mail || own_mail != 0) && word.without(actor_word::running).needs_queueing(band);
      bool const give_ring = waiting == 0 && word.ring() != 0 && arena_.ring(word.ring()).dedicated == 0 &&
                             (rings_are_scarce(arena_) || (was_kept_ && rings_are_plenty(arena_)));
      looks = give_ring && !leave_gate(cell, word.ring());
      if (looks) continue;
      publish(own, word, totals, give_ring);
      auto next = word.without(actor_word::running | actor_word::room_wanted);
      if (queueing) next = next.queued_for(band);
      if (give_ring) {
        own.held_ring.store(0, memory_order::relaxed);
        next = next.with_ring(0).with_tail(0);
      }
      // Release: the next owner sees this one's work. Acquire on failure: a ring that a sender attached.
      if (!cell.word.compare_exchange(bits, next.bits(), memory_order::release, memory_order::acquire)) {
        if (give_ring) {
          own.held_ring.store(word.ring(), memory_order::relaxed);
          if (arena_.has_gates()) cell.gate.attach(word.ring(), capacity_of(cell));
        }
        continue;
      }
      if (give_ring) keep_or_give_back(word.ring());
      if (queueing && !word.has(actor_word::pinned)) make_ready(cell, index, band, false, true);
      return {.mail_left = queueing, .room_wanted = word.has(actor_word::room_wanted)};
    }
  }

  /// Of `release`, what is most common within a team: nothing came but what was handled, and this thread keeps the ring
  /// for the next actor. False, without effect, if it is not so.
  RONDO_HOT RONDO_HD bool release_with_ring(actor_cell& cell, owner_cell& own,
                                            actor_totals& totals) noexcept {
    auto bits = cell.word.load(memory_order::relaxed);  // relaxed: the exchange validates it
    actor_word const word{bits};
    auto const ring = word.ring();
    auto const idle = word.without(actor_word::running).with_ring(0).with_tail(0);
    bool const is_plain = (idle.bits() & actor_word::flag_mask) == actor_word::open;
    if (!is_plain || ring == 0 || ring != own.held_ring.load_own() || word.tail() != own.head ||
        sender_.spare_ring != 0 || arena_.ring(ring).dedicated != 0 || !rings_are_plenty(arena_))
      return false;
    publish(own, word, totals, true);
    own.held_ring.store(0, memory_order::relaxed);
    // Release: the next owner sees this one's work. Relaxed on failure: the caller loads the word again.
    if (cell.word.compare_exchange(bits, idle.bits(), memory_order::release, memory_order::relaxed)) {
      sender_.spare_ring = ring;
      return true;
    }
    own.held_ring.store(ring, memory_order::relaxed);
    return false;
  }

  /// Ends the closed gate of an actor whose word holds this ring, if there is one. False, after a pause, if a sender is
  /// between two steps: perhaps mail comes. Owner only.
  RONDO_HD bool end_gate(actor_cell& cell, std::uint32_t ring, std::uint32_t next_generation) const noexcept {
    if (!arena_.has_gates() || cell.gate.end(ring, capacity_of(cell), next_generation)) return true;
    relax();
    return false;
  }

  /// Points head at the ring that the actor now holds. Owner only.
  RONDO_HOT RONDO_HD void adopt_ring(owner_cell& own, actor_word word) const noexcept {
    if (word.ring() == own.held_ring.load_own()) return;
    acquire_found();
    own.set_head(arena_.ring(word.ring()).saved_tail());
    own.held_ring.store(word.ring(), memory_order::release);  // for arena_ref::waiting
  }

  /// Adds to `totals.accepted` the tickets that senders have taken as of `word`, and publishes `totals`. With
  /// `gives_ring`, also makes the empty ring ready for another actor. Owner only.
  RONDO_HOT RONDO_HD void publish(owner_cell& own, actor_word word, actor_totals& totals,
                                  bool gives_ring = false) const noexcept {
    if (word.ring() == 0) return own.totals.publish(totals);
    adopt_ring(own, word);
    ring_entry& ring = arena_.ring(word.ring());
    auto& counted_ring = own.totals.counted_ring;
    auto const seen = counted_ring.load_own() == word.ring() ? own.tail_seen.load_own() : ring.saved_tail();
    totals.accepted += (word.tail() - seen) & ticket_mask;
    if (gives_ring) ring.set_tail(own.head);
    own.totals.publish(totals, [&] {
      own.tail_seen.store(word.tail(), memory_order::relaxed);
      counted_ring.store(gives_ring ? 0 : word.ring(), memory_order::relaxed);
    });
  }

  /// Gives back everything that this thread keeps; called before a long wait.
  RONDO_HD void share_all() noexcept {
    share_kept();
    give_up_spare();
  }

  /// Records that this thread has done what may change which message the actor that it runs handles next.
  RONDO_HD void note_new_order() noexcept {
    if constexpr (takes_windows) new_order_ = true;
  }
  /// Whether it has, since the last call.
  RONDO_HD bool take_new_order() noexcept {
    bool const was = new_order_;
    if (was) new_order_ = false;
    return was;
  }

  /// How long this thread waits for more mail of an actor before it looks again; see slice::linger. 0: not at all.
  std::uint32_t linger_pauses = 4;

 private:
  /// What is most common within a team: an idle actor gets the ring that the last one left. False if it is not so.
  RONDO_CALL RONDO_HD bool post_first(actor_id to, message_header const& header, void const* payload,
                                      std::uint32_t bytes) noexcept {
    std::uint32_t ticket = 0;
    if (!reserve_first(arena_, to, sender_.spare_ring, ticket)) return false;
    auto const ring = arena_.ring_at(sender_.spare_ring);
    sender_.spare_ring = 0;
    write(ring, ticket, header, payload, bytes);
    int const band = band_of(default_priority);
    if (!keep(to.index, band)) push_and_wake(to.index, band);
    return true;
  }
  RONDO_HD errc post_to_any(actor_id to, message_header const& header, void const* payload,
                            std::uint32_t bytes, bool want_room) noexcept {
    auto const r = take_tickets(to, header.priority, 1, want_room);
    if (r.status != errc::ok) return r.status;
    announce_priority(to.index, r, header.priority, 1);
    write(r.ring, r.ticket, header, payload, bytes);
    announce(to.index, r);
    return errc::ok;
  }
  RONDO_HOT RONDO_HD reservation take_tickets(actor_id to, std::uint8_t priority, std::uint32_t count,
                                              bool want_room) noexcept {
    bool const had_spare = sender_.spare_ring != 0;
    auto const r = reserve(arena_, to, priority, count, want_room, sender_);
    if (sender_.spare_ring != 0 && !had_spare) [[unlikely]]
      give_up_spare();  // not needed after all: let another thread have it
    return r;
  }

  RONDO_CALL RONDO_HD void give_up_spare() noexcept {
    if (sender_.spare_ring != 0) push_free_ring(arena_, sender_.spare_ring);
    sender_.spare_ring = 0;
  }

  /// Keeps an actor's old ring for the next actor that needs one: its slots are still in this core's cache.
  RONDO_HD void keep_or_give_back(std::uint32_t ring) noexcept {
    if (sender_.spare_ring == 0 && rings_are_plenty(arena_))
      sender_.spare_ring = ring;
    else
      push_free_ring(arena_, ring);
  }

  /// Whether one of `count` tickets is a multiple of latency_sample_every.
  RONDO_HOT RONDO_HD bool is_sampled(std::uint32_t ticket, std::uint32_t count = 1) const noexcept {
    return with_telemetry && (-ticket & sample_mask_) < count;
  }

  RONDO_HOT RONDO_HD void write(mail_ring_ref const& ring, std::uint32_t ticket, message_header const& header,
                                void const* payload, std::uint32_t bytes) const noexcept {
    if (is_sampled(ticket)) [[unlikely]]  // two calls: choosing a header would cost every message
      fill(ring, ticket, sampled(header), payload, bytes);
    else
      fill(ring, ticket, header, payload, bytes);
  }

  RONDO_HD static message_header sampled(message_header header) noexcept {
    if (!header.stamped()) header.stamp(now_ns());
    header.flags |= flag_sampled;
    return header;
  }

  RONDO_HOT RONDO_HD void announce_priority(std::uint32_t index, reservation const& r, std::uint8_t priority,
                                            std::uint32_t count) noexcept {
    if (priority == default_priority) [[likely]]
      return;
    note_new_order();
    rondo::announce_priority(arena_.owner_of(index), r.ring, r.ticket, count);
  }
  RONDO_HOT RONDO_HD void announce(std::uint32_t index, reservation const& r) noexcept {
    if (r.queue_band >= 0)
      make_ready(arena_.cell(index), index, r.queue_band, false);
    else if (r.ring_doorbell)
      make_ready(arena_.cell(index), index, 0, true);
  }

  RONDO_HD static std::uint32_t capacity_of(actor_cell const& cell) noexcept {
    return mailbox_limits{cell.limits.load_own()}.capacity();
  }

  /// Takes the ring that the actor's word still holds from the gate, if there is one. False, after a pause, if a sender
  /// is between two steps: perhaps mail comes. Owner only.
  RONDO_HD bool leave_gate(actor_cell& cell, std::uint32_t ring) const noexcept {
    if (!arena_.has_gates() || cell.gate.detach(ring, capacity_of(cell))) return true;
    relax();
    return false;
  }

  /// Of the `waiting` messages. -1: all of them are stashed.
  RONDO_HD int most_urgent_band(actor_cell& cell, owner_cell& own, actor_word word,
                                std::uint32_t waiting) const noexcept {
    mail_ring_ref const ring = arena_.held_ring_at(word.ring());
    priority_lists_ref lists{arena_, cell, own, ring};
    return lists.has_more_than_stash(waiting) ? band_of(lists.most_urgent()) : -1;
  }

  std::uint32_t sample_mask_ = 0;  // latency_sample_every - 1
  sender sender_;
  std::uint32_t kept_in_a_row_ = 0;
  std::uint32_t looks_ = 0;
  bool new_order_ = false;
  bool was_kept_ = false;  // the running actor was kept: its mail came from this thread
};

}  // namespace rondo
