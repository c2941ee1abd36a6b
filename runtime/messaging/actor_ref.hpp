// A typed reference to an actor, through which callers tell, ask, and send batches.
//
// A ref is two words, does not own the actor, and must not outlive its runtime. It names one generation of the
// actor: once that has terminated, every use fails with actor_gone (G7). Threads: any. Completion handlers run on
// their associated executor, by default on the runtime's own thread; a pending operation keeps work there. What they
// throw on the runtime's own thread becomes a failure report.
//
// messages_ref.hpp has refs that name messages instead of a behaviour.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "kernels/actor/context.hpp"
#include "runtime/messaging/blocking.hpp"
#include "runtime/messaging/messenger.hpp"
#include "runtime/messaging/typed_answer.hpp"
#include "runtime/os/time_limit.hpp"

namespace rondo {

/// How a message is told.
struct tell_options {
  std::uint8_t priority = default_priority;  // 255 is handled first
  /// A message whose turn comes later is dropped and counted. 0: no deadline. Less: it has passed, so the outcome is
  /// timed_out, and nothing is sent. More than a day: deadline_too_long.
  std::chrono::microseconds deadline{0};
  bool wait_for_room = false;  // only for the awaited form
  std::uint64_t trace = 0;     // not 0: runtime::traces lists its hops under this number; not for a batch
};

/// How an actor is asked.
struct ask_options {
  time_limit timeout = no_timeout;           // zero or less: timed_out at once, and nothing is sent
  std::uint8_t priority = default_priority;  // 255 is handled first
  bool wait_for_room = false;                // until the timeout: a full mailbox is not an error
  std::uint64_t trace = 0;                   // as in tell_options

  /// For a messenger.
  messenger::ask_terms terms() const noexcept { return {timeout, wait_for_room, trace}; }
};

/// The header fields that these options set.
inline message_header plain_header(tell_options options) noexcept {
  message_header h;
  h.priority = options.priority;
  if (options.deadline.count() > 0) {
    h.set_deadline(static_cast<std::uint64_t>(options.deadline.count()));
    h.stamp(now_ns());
  } else if (options.deadline.count() < 0) {
    h.deadline = message_header::refused_deadline;  // not stamped: see messenger::refusal_of
  }
  return h;
}

namespace detail {
/// Whether a ref to a `From` is also a ref to a `To`; see messages_ref.hpp.
template <class To, class From>
inline constexpr bool can_stand_for = false;
}  // namespace detail

template <class Behaviour>
class actor_ref {
 public:
  /// Names no actor; may only be assigned to and compared.
  actor_ref() = default;
  /// For the runtime.
  actor_ref(messenger& m, actor_id id) noexcept : messenger_(&m), id_(id) {}
  /// From a ref to a behaviour that takes all the messages of this one.
  template <class Other>
  requires detail::can_stand_for<Behaviour, Other> actor_ref(actor_ref<Other> const& other)
  noexcept : messenger_(other.messenger_), id_(other.id_) {}

  /// Names this life of the actor.
  actor_id id() const noexcept { return id_; }
  /// The address to put into messages, so that other actors can send to this one.
  address<Behaviour> where() const noexcept { return {id_}; }
  /// Equal: the same life of an actor of the same runtime. Ordered by the actors' places.
  friend bool operator==(actor_ref const& a, actor_ref const& b) noexcept = default;
  friend std::strong_ordering operator<=>(actor_ref const& a, actor_ref const& b) noexcept {
    auto const by_place = a.id_ <=> b.id_;
    return by_place != 0 ? by_place : std::compare_three_way{}(a.messenger_, b.messenger_);
  }
  /// For operations with their own headers, such as runtime/lifecycle.hpp.
  messenger& mail() const noexcept { return *messenger_; }

  /// Sends without waiting. Errors: mailbox_full, arena_full, actor_gone, device_busy, timed_out, deadline_too_long;
  /// once the runtime has ended, stopped, device_lost, or handler_failed. A message that was accepted is never lost for
  /// want of room: on a device with its own memory it waits in the host until its mailbox takes it. Never overtakes an
  /// earlier message of its priority (G2): while earlier ones wait for room in this mailbox, fails with mailbox_full
  /// even if a slot is free at this moment.
  template <sent_to<Behaviour> Message>
  error_code try_tell(Message const& m, tell_options options = {}) const {
    auto const header = header_for<Message>(options);
    if (options.trace != 0) [[unlikely]]
      return messenger_->try_post_traced(id_, header, &m, sizeof m, options.trace);
    return messenger_->try_post(id_, header, &m, sizeof m);
  }
  /// Sends all of `batch`, adjacent in the mailbox, or none. Errors as try_tell; batch_too_large for one that the
  /// mailbox never has room for, or that the queue to a device with its own memory cannot take at once
  /// (submission_slots).
  template <sent_to<Behaviour> Message>
  error_code try_tell(std::span<Message const> batch, tell_options options = {}) const {
    return messenger_->try_post_batch(id_, header_for<Message>(options), batch.data(), sizeof(Message),
                                      sizeof(Message), static_cast<std::uint32_t>(batch.size()));
  }
  /// Sends and completes with void(error_code) once the mailbox has accepted or refused the message; errors as
  /// try_tell. With wait_for_room, a full mailbox is not an error: the message waits in the actor's line. Waiting
  /// messages are sent in the order of their calls, awaited or not. On a device with its own memory, each is sent once
  /// the previous one has arrived. A message that waits leaves the line with `timed_out` at its deadline, and with
  /// `cancelled` through the token's cancellation slot.
  template <sent_to<Behaviour> Message, class Token = boost::asio::use_awaitable_t<>>
  auto tell(Message const& m, tell_options options = {}, Token&& token = {}) const {
    return boost::asio::async_initiate<Token, void(error_code)>(
        [how = options](auto handler, messenger* to, outgoing o) {
          to->post(o, how.wait_for_room, how.trace,
                   answer_handler(detail::typed_answer<decltype(handler), void>{std::move(handler)}));
        },
        token, messenger_, outgoing_for(m, header_for<Message>(options)));
  }
  /// The same for all of `batch`, which is copied: adjacent in the mailbox, or none. Errors also as the try_tell of a
  /// batch.
  template <sent_to<Behaviour> Message, class Token = boost::asio::use_awaitable_t<>>
  auto tell(std::span<Message const> batch, tell_options options = {}, Token&& token = {}) const {
    return boost::asio::async_initiate<Token, void(error_code)>(
        [how = options](auto handler, messenger* to, actor_id actor, std::vector<Message> messages) {
          auto const header = header_for<Message>(how);
          to->post_batch({actor, header, messages.data(), sizeof(Message), sizeof(Message),
                          static_cast<std::uint32_t>(messages.size())},
                         how.wait_for_room,
                         answer_handler(detail::typed_answer<decltype(handler), void>{std::move(handler)}));
        },
        token, messenger_, id_, std::vector<Message>(batch.begin(), batch.end()));
  }

  /// Asks and completes with void(error_code, Reply). Errors: those of try_tell, and timed_out, cancelled,
  /// handler_failed, wrong_reply, exception_thrown, quarantined, terminated, no_reply, device_lost, ask_limit; with
  /// `block`, would_deadlock.
  template <asked_of<Behaviour> Message, class Token = boost::asio::use_awaitable_t<>>
  auto ask(Message const& m, ask_options options, Token&& token = {}) const {
    using reply = reply_to_t<Behaviour, Message>;
    auto const request = outgoing_for(m, header_for<Message>({.priority = options.priority}));
    if constexpr (std::is_same_v<std::decay_t<Token>, block_t>) {
      return typed_result<reply>(messenger_->ask_blocking(request, options.terms()));
    } else {
      return boost::asio::async_initiate<Token, void(error_code, reply)>(
          [how = options](auto handler, messenger* to, outgoing o) {
            to->ask(o, how.terms(),
                    answer_handler(detail::typed_answer<decltype(handler), reply>{std::move(handler)}));
          },
          token, messenger_, request);
    }
  }
  /// The same with a time limit and otherwise default options.
  template <asked_of<Behaviour> Message, class Rep, class Period,
            class Token = boost::asio::use_awaitable_t<>>
  auto ask(Message const& m, std::chrono::duration<Rep, Period> timeout, Token&& token = {}) const {
    return ask(m, ask_options{.timeout = timeout}, std::forward<Token>(token));
  }

  /// The header of a message of this type.
  template <class Message>
  static message_header header_for(tell_options options) noexcept {
    message_header h = plain_header(options);
    h.type = type_id<Message>;
    return h;
  }

 private:
  template <class>
  friend class actor_ref;

  template <class Message>
  outgoing outgoing_for(Message const& m, message_header const& header) const noexcept {
    outgoing o;
    o.to = id_;
    o.body.header = header;
    o.body.bytes = sizeof m;
    __builtin_memcpy(o.body.payload, &m, sizeof m);
    return o;
  }
  template <class Reply>
  static result<Reply> typed_result(answer const& a) {
    // In place, because a reply that begins with an errc could also be constructed from one.
    auto const failed = [](errc e) {
      return result<Reply>(boost::system::in_place_error, make_error_code(e));
    };
    if (a.reason != errc::ok) return failed(a.reason);
    if (a.body.header.type != type_id<Reply>) return failed(errc::unknown_message);
    Reply r;
    __builtin_memcpy(static_cast<void*>(&r), a.body.payload, sizeof r);
    return r;
  }

  messenger* messenger_ = nullptr;
  actor_id id_{};
};

}  // namespace rondo

// -- for the standard library

template <>
struct std::hash<rondo::actor_id> {
  std::size_t operator()(rondo::actor_id id) const noexcept {
    return std::hash<std::uint64_t>{}(std::uint64_t{id.generation} << 32 | id.index);
  }
};
template <class Behaviour>
struct std::hash<rondo::actor_ref<Behaviour>> {
  std::size_t operator()(rondo::actor_ref<Behaviour> const& ref) const noexcept {
    return std::hash<rondo::actor_id>{}(ref.id());
  }
};
