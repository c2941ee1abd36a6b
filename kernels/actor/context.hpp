// The context of a handler call: how a handler replies, sends, fails, reads its message's header, and shares work among
// its team's lanes.
//
// A context is valid during one handler call, on the lanes that run it. With several lanes, `reply`, `tell`, `ask`,
// `forward`, the requests to the host, `log`, `reject`, `stash`, `unstash`, and `fail` take effect once, and
// `should_stop` and `waiting_at` give all the same answer: call them on all lanes with the same arguments.
#pragma once

#include "kernels/actor/host_requests.hpp"
#include "kernels/actor/log_event.hpp"
#include "kernels/actor/mail_pack.hpp"
#include "kernels/actor/message_outcome.hpp"
#include "kernels/actor/sent_digest.hpp"
#include "kernels/base/address.hpp"
#include "kernels/base/team.hpp"
#include "kernels/link/device_event.hpp"
#include "kernels/mail/room_list.hpp"
#include "kernels/mail/snapshot.hpp"
#include "kernels/mail/trace.hpp"

namespace rondo {

class context : public message_outcome, public host_requests<context>, public sent_digest {
 public:
  /// `own_mail`: where `again` leaves its bit; null: this call cannot ask for it.
  RONDO_HD context(scheduler& sched, rondo::team const& team, host_port const& host, actor_id self,
                   std::uint32_t* own_mail = nullptr) noexcept
      : sent_digest(sched.arena().journal()),
        scheduler_(sched),
        team_(team),
        host_(host),
        self_(self),
        own_mail_(own_mail) {}

  /// The actor that this handler belongs to.
  RONDO_HD actor_id self() const noexcept { return self_; }
  /// The same as an address. Precondition: the actor is a `Behaviour`.
  template <class Behaviour>
  RONDO_HD address<Behaviour> self_as() const noexcept {
    return {self_};
  }
  /// The header of the message being handled: priority, time of sending, correlation.
  RONDO_HD message_header const& header() const noexcept { return *header_; }
  /// Nanoseconds on the device's clock.
  RONDO_HD std::uint64_t now_ns() const noexcept { return rondo::now_ns(); }
  /// Nanoseconds until the message's deadline; the largest number if it has none.
  RONDO_HD std::uint64_t time_left_ns() const noexcept {
    if (header_->deadline == 0) return ~0ull;
    auto const limit = header_->deadline_ns(), age = header_->age_ns(rondo::now_ns());
    return age < limit ? limit - age : 0;
  }

  /// Answers the message being handled. Fails with wrong_state if no sender waits for an answer or if it was already
  /// given. If the asker is an actor, fails with the errors of `tell`. A reply of another type than the message
  /// declares is not sent, and the handler fails with wrong_reply.
  template <message_type Reply>
  RONDO_HD errc reply(Reply const& answer) noexcept {
    if ((header_->flags & flag_wants_reply) == 0 || answered_) return errc::wrong_state;
    if (!is_declared<Reply>(reply_type_)) [[unlikely]]
      return fail(errc::wrong_reply), errc::wrong_reply;
    answered_ = true;
    return team_.leader() ? send_reply(asker(), answer) : errc::ok;
  }
  /// Promises a later answer: the ask stays open when the handler returns.
  RONDO_HD reply_token defer() noexcept {
    answered_ = true;
    return asker();
  }
  /// Sends the answer that `token` promised. Fails with wrong_state if no sender waits for it. If it has another type
  /// than the token's message declares, the asker gets wrong_reply, and so does this handler, which fails.
  template <message_type Reply>
  RONDO_HD errc reply_to(reply_token token, Reply const& answer) noexcept {
    if (!token.to.valid()) return errc::wrong_state;
    if (is_declared<Reply>(token.reply_type)) [[likely]]
      return send_reply(token, answer);
    refuse(token, errc::wrong_reply, 0);
    return fail(errc::wrong_reply), errc::wrong_reply;
  }

  /// Sends to another actor; never blocks. Fails with actor_gone, mailbox_full, or arena_full. The host forwards a
  /// message to another device: ok then means that it is in transit, where it waits for room like a patient sender. If
  /// it cannot be delivered, a request is answered with `rejected`; any other message becomes a dead letter.
  template <class Behaviour, sent_to<Behaviour> Message>
  RONDO_HD errc tell(address<Behaviour> to, Message const& m, send_options options = {}) noexcept {
    return send_untyped(to.id, m, header_for<Message>(options, 0, {}));
  }
  /// Sends a request. The answer arrives as a message of the reply's type with this `correlation`.
  template <class Behaviour, sent_to<Behaviour> Message>
  RONDO_HD errc ask(address<Behaviour> to, Message const& m, std::uint32_t correlation,
                    send_options options = {}) noexcept {
    return send_untyped(to.id, m, header_for<Message>(options, correlation, self_));
  }
  /// Passes a request or a tell on: sends `m`, usually the message being handled, in its place. It keeps the priority,
  /// the deadline, the correlation, and the asker, who gets the answer from `to`: here the request then counts as
  /// answered. Fails as `tell`, and nothing was sent: the handler may try another actor. Also fails with wrong_state if
  /// the request was answered already. If `to` answers `m` with another type than the message being handled declares,
  /// nothing is sent, and the handler fails with wrong_reply. A tell may be forwarded to several actors.
  template <class Behaviour, sent_to<Behaviour> Message>
  RONDO_HD errc forward(address<Behaviour> to, Message const& m) noexcept {
    bool const is_request = (header_->flags & flag_wants_reply) != 0;
    if (is_request && answered_) return errc::wrong_state;
    if (is_request && reply_type_ != 0 && reply_type_ != reply_id_of<Behaviour, Message>) [[unlikely]]
      return fail(errc::wrong_reply), errc::wrong_reply;
    auto const outcome = send_untyped(to.id, m, header_in_place_of<Message>());
    if (outcome == errc::ok) answered_ = true;
    return outcome;
  }
  /// Whether this handler should return soon: the runtime stops, or is to stand still for a checkpoint or the end of a
  /// round, or the actor terminates. A long handler asks now and then; to continue after a standstill, it sends its
  /// actor a message. Loads two or three words that rarely change. A pinned actor on a device with its own memory does
  /// not learn here that it is to terminate: its team takes that request after the handler.
  RONDO_HD bool should_stop() const noexcept { return team_.broadcast(team_.leader() && is_waited_for()); }

  /// The actor gets the message `again`, once, when the mail that waits for it and the other actors have had their
  /// turn. It needs no room in the mailbox. Not while the actor is deactivated; dropped when it ends, or restarts with
  /// a fresh state. Only for the team that owns the actor: in a tile of a wide message, the handler fails with
  /// wrong_state.
  RONDO_HD void again() noexcept {
    if (own_mail_is_due(type_id<rondo::again>)) *own_mail_ |= own_again;
  }
  /// The actor gets the message `room` when the mailbox of `to` has room again or is gone, perhaps at once: then it
  /// sends once more, and perhaps waits once more. It waits for one mailbox at a time: for a second one, `room` comes
  /// until the first has room. Room is what a message of the default priority finds. An actor of another device never
  /// seems full; see `tell`. Otherwise as `again`.
  template <class Behaviour>
  RONDO_HD void when_room(address<Behaviour> to) noexcept {
    if (own_mail_is_due(type_id<room>) && !await_room(scheduler_, to.id, self_)) *own_mail_ |= own_room;
  }

  /// A hint: how many messages wait in the mailbox of `to`, with the one that it handles. 0 if it is gone;
  /// `unknown_count` if it is on another device.
  template <class Behaviour>
  RONDO_HD std::uint32_t waiting_at(address<Behaviour> to) const noexcept {
    return team_.broadcast(team_.leader() ? estimate_waiting(scheduler_.arena(), to.id) : 0);
  }

  /// All that the actor has stashed comes again, as if it had never been taken: of each priority the oldest first,
  /// before the mail that came later. So does the message being handled, if the handler stashes it. A restart with a
  /// fresh state unstashes, too. In a tile of a wide message, the handler fails with wrong_state.
  RONDO_HD void unstash() noexcept {
    if (!is_on_owner()) return;
    note_unstashed();
    unstash_mail();
  }

  /// Writes a line to the program's log: `text`, a literal or a char array that a zero ends, with the numbers in place
  /// of its "{}". Below config::log_level this is one load and compare. Blocks while there is no room on the way to the
  /// host (runtime::on_log).
  template <std::uint32_t Bytes, class... Numbers>
  RONDO_HD void log(log_level level, char const (&text)[Bytes], Numbers... numbers) noexcept {
    static_assert(sizeof...(Numbers) <= max_log_numbers, "a log line has at most 4 numbers");
    static_assert(Bytes <= max_payload_bytes - 8 * sizeof...(Numbers),
                  "the text of a log line has at most 95 bytes, 8 fewer per number");
    if (level < scheduler_.arena().shape().log_level || !team_.leader() || is_mute()) return;
    log_numbers all;
    (all.add(numbers), ...);
    host_.emit(log_event(self_, level, all, text, Bytes));
  }

  /// The buffers that handles in messages refer to. Take a lease before accessing one
  /// (kernels/buffers/buffer_lease.hpp).
  RONDO_HD buffer_table_ref buffers() const noexcept { return host_.buffers; }

  /// Replays the graph that the host captured for this actor; see kernels/actor/captured.hpp. Blocks the team.
  /// Exceptions of its steps pass through.
  RONDO_HD errc replay(void const* request, std::uint32_t request_bytes, void* reply,
                       std::uint32_t reply_bytes) const {
#if defined(__CUDA_ARCH__)
    return errc::no_graph;
#else
    return host_.graphs() != nullptr
               ? host_.graphs()->replay(self_, request, request_bytes, reply, reply_bytes)
               : errc::no_graph;
#endif
  }

  /// The team that runs the handler: its lanes can exchange values.
  RONDO_HD rondo::team const& team() const noexcept { return team_; }
  /// This lane's share of 0..n.
  RONDO_HD lane_range lanes(std::uint32_t n) const noexcept { return {n, team_.lane(), team_.lanes()}; }

  // -- for the runtime
  RONDO_HD void begin(message_header const& header) noexcept {
    header_ = &header;
    answered_ = false;
    begin_outcome();
    note_nothing();
  }
  /// The type id that the message declares for its reply; 0: none.
  RONDO_HD void expect(std::uint32_t reply_type) noexcept { reply_type_ = reply_type; }
  /// Answers with the value that the handler returned, unless it has failed, replied, or deferred its answer.
  template <class Reply>
  RONDO_HD void reply_with(Reply const& returned) noexcept {
    if (failure() == errc::ok) static_cast<void>(reply(returned));
  }
  /// Fails the handler because it threw an exception with this text, which the host gets first.
  [[gnu::cold, gnu::noinline]] RONDO_HD void fail_thrown(char const* text) noexcept {
    device_event r{.kind = event_kind::threw, .actor = self_};
    while (r.body.bytes < max_payload_bytes && text[r.body.bytes] != 0) ++r.body.bytes;
    __builtin_memcpy(r.body.payload, text, r.body.bytes);
    host_.emit(r);
    fail(errc::exception_thrown);
  }
  /// The answer of a handler that a player has run.
  void reply_packed(std::uint32_t type, void const* answer, std::uint32_t bytes) noexcept {
    auto const token = asker();
    if ((token.to.index & host_ask_bit) != 0) return answer_host(token, errc::ok, type, answer, bytes);
    message_header h;
    h.type = type;
    h.correlation = token.correlation;
    h.flags = flag_is_reply;
    static_cast<void>(post(token.to, h, answer, bytes));
  }
  /// Of a portable context: see kernels/portable/behaviour.hpp.
  template <class Message>
  RONDO_HD void tell_patiently(actor_id to, Message const& m, std::uint8_t priority) noexcept {
    note_payload(m);
    if (team_.leader()) tell_patiently(to, type_id<Message>, priority, &m, sizeof m);
  }
  /// On one lane.
  RONDO_CALL RONDO_HD void tell_patiently(actor_id to, std::uint32_t type, std::uint8_t priority,
                                          void const* payload, std::uint32_t bytes) noexcept {
    device_event r{.kind = event_kind::dead_letter, .actor = to};
    auto& h = r.body.header;
    h.type = type;
    h.priority = priority;
    if (journal_ != 0) note_sent(to, h, errc::ok);
    if (is_mute()) return;
    r.reason = line_waits(to)  ? errc::mailbox_full
               : journal_ != 0 ? post_anywhere(to, h, payload, bytes)
                               : post(to, h, payload, bytes);
    if (r.reason == errc::ok) return;
    r.body.bytes = bytes;
    copy_words(r.body.payload, payload, bytes);
    bool const is_full = r.reason == errc::mailbox_full || r.reason == errc::arena_full;
    if (is_full && host_.packs() != nullptr) r.kind = event_kind::forward, r.reason = errc::ok;
    host_.emit(r);
  }
  RONDO_HD bool answered() const noexcept { return answered_; }
  RONDO_HD host_port const& host() const noexcept { return host_; }
  RONDO_HD scheduler& sched() noexcept { return scheduler_; }
  /// Emits a request to the host on one lane; nothing while the actor is replayed. Its body is a message to `to`, or
  /// has none.
  RONDO_CALL RONDO_HD void request(device_event& r, actor_id to) noexcept {
    if (is_watched()) [[unlikely]] {
      note_sent(to, r.body.header, errc::ok);
      if (is_mute()) return;
    }
    host_.emit(r);
  }

  /// Sends a message to an actor on any device.
  RONDO_CALL RONDO_HD errc post(actor_id to, message_header const& header, void const* payload,
                                std::uint32_t bytes) noexcept {
    if (is_watched()) [[unlikely]]
      return post_watched(to, header, payload, bytes);
    return post_anywhere(to, header, payload, bytes);
  }
  /// Sends an asker the reason why there is no answer. `type`: of the request; 0: unknown.
  RONDO_CALL RONDO_HD void refuse(reply_token token, errc reason, std::uint32_t type) noexcept {
    if ((token.to.index & host_ask_bit) != 0) return answer_host(token, reason, 0, nullptr, 0);
    message_header answer;
    answer.type = type_id<rejected>;
    answer.correlation = token.correlation;
    answer.flags = flag_is_reply;
    rejected const body{reason, type};
    post(token.to, answer, &body, sizeof body);  // an asker that is gone or full gets no answer
  }
  /// Completes the host's ask `token` with `reason`, and with a payload if there is an answer.
  RONDO_CALL RONDO_HD void answer_host(reply_token token, errc reason, std::uint32_t type,
                                       void const* payload, std::uint32_t bytes) noexcept {
    device_event r;
    begin_answer(r, token, reason, type);
    if (journal_ != 0) note_sent(token.to, r.body.header, reason);
    if (is_mute()) return;
    r.body.bytes = bytes;
    if (bytes != 0) copy_words(r.body.payload, payload, bytes);
    host_.emit(r);
  }

 private:
  friend class host_requests<context>;

  RONDO_HD reply_token asker() const noexcept {
    return {header_->reply_to, header_->correlation, reply_type_};
  }
  template <class Reply>
  RONDO_HD static bool is_declared(std::uint32_t reply_type) noexcept {
    return reply_type == 0 || reply_type == type_id<Reply>;
  }
  template <class Reply>
  RONDO_HD errc send_reply(reply_token token, Reply const& answer) noexcept {
    message_header h;
    h.type = type_id<Reply>;
    h.correlation = token.correlation;
    h.flags = flag_is_reply;
    bool const to_host = (token.to.index & host_ask_bit) != 0;
    bool const is_staged = to_host && host_.put_on_stage([&](device_event& r) {
      begin_answer(r, token, errc::ok, h.type);
      r.body.bytes = sizeof answer;
      __builtin_memcpy(r.body.payload, &answer, sizeof answer);
    });
    if (is_staged) return errc::ok;  // with the journal off
    // A copy: on a GPU, what a function gets by address is in memory, and so would be the answer on the way above.
    Reply const copy = answer;
    note_payload(copy);
    if (!to_host) return post(token.to, h, &copy, sizeof copy);
    answer_host(token, errc::ok, h.type, &copy, sizeof copy);
    return errc::ok;
  }
  /// Sets all but the payload, member by member: a whole event would be copied byte by byte on a GPU.
  RONDO_HD void begin_answer(device_event& r, reply_token token, errc reason,
                             std::uint32_t type) const noexcept {
    r.kind = event_kind::reply;
    r.reason = reason;
    r.actor = self_;
    r.detail = 0;
    r.behaviour = r.team = 0;
    r.body.header = {};
    r.body.header.type = type;
    r.body.header.reply_to = token.to;
    r.body.bytes = 0;
  }

  RONDO_HD bool line_waits([[maybe_unused]] actor_id to) const noexcept {
#if defined(__CUDA_ARCH__)
    return false;
#else
    return host_.packs() != nullptr && host_.packs()->line_waits(to);
#endif
  }

  /// On one lane.
  RONDO_HD bool is_on_owner() noexcept {
    if (!team_.leader()) return false;
    if (own_mail_ == nullptr) return fail(errc::wrong_state), false;
    return true;
  }
  RONDO_HD bool own_mail_is_due(std::uint32_t type) noexcept {
    if (!is_on_owner()) return false;
    if (journal_ != 0) note_word(type);
    return !is_mute();
  }
  RONDO_CALL RONDO_HD void unstash_mail() noexcept {
    actor_cell& cell = scheduler_.arena().cell(self_.index);
    auto const held = scheduler_.arena().owner(cell).held_ring.load_own();
    if (held == 0) return;
    mail_ring_ref const ring = scheduler_.arena().ring_at(held);
    scheduler_.note_new_order();
    priority_lists_ref{scheduler_.arena(), cell, ring}.unstash();
  }
  RONDO_HD bool is_waited_for() const noexcept {
    arena_ref const& arena = scheduler_.arena();
    if (arena.stopping()) return true;
    // Relaxed, both: requests; nothing is read through them.
    actor_cell const& cell = arena.cell(self_.index);
    auto const state = static_cast<lifecycle>(cell.state.load(memory_order::relaxed));
    return (arena.owner(cell).control.load(memory_order::relaxed) & (control_drain | control_discard)) != 0 ||
           state == lifecycle::terminating || state == lifecycle::discarding;
  }
  RONDO_HOT RONDO_HD errc post_anywhere(actor_id to, message_header const& header, void const* payload,
                                        std::uint32_t bytes) const noexcept {
    auto const outcome = scheduler_.post(to, header, payload, bytes);
    if (outcome != errc::actor_gone || !scheduler_.arena().is_elsewhere(to)) return outcome;
    send_by_host(to, header, payload, bytes);
    return errc::ok;
  }

  // -- traces and journal

  RONDO_HD bool is_traced() const noexcept { return (header_->flags & flag_traced) != 0; }
  RONDO_HD bool is_watched() const noexcept { return journal_ != 0 || is_traced(); }
  RONDO_HD trace_tag tag_of_next() noexcept {
    auto const mine = tag_behind(slot_around(*header_).payload);
    return {mine.trace, next_hop(mine.hop, count_sent()), mine.hop};
  }
  RONDO_HD void tag(message& m) noexcept {
    if (is_traced() && m.bytes <= max_traced_bytes) add_tag(m, tag_of_next());
  }
  RONDO_CALL RONDO_HD errc post_watched(actor_id to, message_header const& header, void const* payload,
                                        std::uint32_t bytes) noexcept {
    auto outcome = errc::ok;
    if (!is_mute()) {
      if (is_traced() && bytes <= max_traced_bytes) {
        message const m = tagged(header, payload, bytes, tag_of_next());
        outcome = post_anywhere(to, m.header, m.payload, m.bytes);
      } else {
        outcome = post_anywhere(to, header, payload, bytes);
      }
    }
    note_sent(to, header, outcome);
    return outcome;
  }
  RONDO_CALL RONDO_HD void send_by_host(actor_id to, message_header const& header, void const* payload,
                                        std::uint32_t bytes) const noexcept {
    device_event r{.kind = event_kind::forward, .actor = to};
    r.body.header = header;
    r.body.bytes = bytes;
    copy_words(r.body.payload, payload, bytes);
    host_.emit(r);
  }
  template <class Message>
  RONDO_HD message_header header_for(send_options options, std::uint32_t correlation,
                                     actor_id reply_to) noexcept {
    message_header h;
    h.type = type_id<Message>;
    h.priority = options.priority;
    h.correlation = correlation;
    h.reply_to = reply_to;
    if (reply_to.valid()) h.flags = flag_wants_reply;
    if (options.deadline_us != 0) {
      h.set_deadline(options.deadline_us);
      h.stamp(rondo::now_ns());
    }
    return h;
  }
  /// Stamped anew with the rest of the deadline. The flags that it leaves out are of this mailbox, or come back with a
  /// trace's tag.
  template <class Message>
  RONDO_HD message_header header_in_place_of() const noexcept {
    message_header h = *header_;
    h.type = type_id<Message>;
    h.flags = static_cast<std::uint8_t>(h.flags & (flag_wants_reply | flag_is_reply));
    h.sent_low = h.sent_high = 0;
    if (h.deadline != 0) {
      auto const left_us = (time_left_ns() + 999) / 1000;
      h.set_deadline(left_us != 0 ? left_us : 1);
      h.stamp(rondo::now_ns());
    }
    return h;
  }
  template <class Message>
  RONDO_HD errc send_untyped(actor_id to, Message const& m, message_header const& header) noexcept {
    if (header.deadline == message_header::refused_deadline) return errc::deadline_too_long;
    errc result = errc::ok;
    note_payload(m);
    if (team_.leader()) result = post(to, header, &m, sizeof m);
    return team_.broadcast(result);
  }

  scheduler& scheduler_;
  rondo::team const& team_;
  host_port const& host_;
  actor_id self_;
  message_header const* header_ = nullptr;
  bool answered_ = false;
  std::uint32_t* const own_mail_;
  std::uint32_t reply_type_ = 0;  // see expect
};

}  // namespace rondo
