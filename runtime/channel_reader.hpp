// Receives in the program what actors send to a channel (actors/channel/channel.hpp), one message at a time, as a
// stream of Asio.
//
//   rondo::channel_reader<alarm> reader{a};              // a ref to a channel
//   alarm const next = co_await reader.async_receive();
//   rondo::result<alarm> const other = reader.receive(1s);
//
// A reader has one receive at a time: another one completes with wrong_state. A message is got when the handler is
// called with it. If the receive ends otherwise (timed_out, cancelled, or the handler is destroyed), the next one gets
// it: no message is lost, none comes twice. A new reader does not know whether an earlier one got the message that was
// given last: unless a later receive followed, it gets that again. Pass on `got` to avoid this.
// A channel has one reader: a receive of another one ends the receive that waits with wrong_state.
//
// Threads: any. Handlers, executors, and cancellation: as in an ask (runtime/messaging/actor_ref.hpp).
#pragma once

#include <algorithm>
#include <memory>

#include "kernels/actor/receive.hpp"
#include "runtime/base/listed_actor.hpp"
#include "runtime/messaging/messages_ref.hpp"

namespace rondo {

/// The options of a channel with room for `capacity` messages, at least 2. A receive that waits takes up the room of
/// one: it waits only while there is no message.
inline actor_options channel_options(std::uint32_t capacity, actor_options others = {}) {
  others.capacity = std::max(capacity, 2u) + room_to_receive.slots;
  others.reserve = room_to_receive;
  return others;
}

namespace detail {

/// What a reader and its open receive share.
struct reader_state {
  atomic<std::uint32_t> busy{0};
  std::uint64_t got = 0;  // only for the receive that made it busy
};

/// The right to receive, until it is destroyed. Empty if there was a receive already.
/// Ordering: the next receive acquires what this one wrote before it released `busy`.
class receive_turn {
 public:
  explicit receive_turn(std::shared_ptr<reader_state> const& state) {
    if (state->busy.exchange(1, memory_order::acquire) == 0) state_ = state;  // the edge `busy`
  }
  receive_turn(receive_turn&&) noexcept = default;
  receive_turn& operator=(receive_turn&&) = delete;
  ~receive_turn() { end(); }

  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// Precondition, for both: not empty.
  std::uint64_t got() const noexcept { return state_->got; }
  void note_got(std::uint64_t number) noexcept { state_->got = number; }
  void end() noexcept {
    if (auto const state = std::move(state_)) state->busy.store(0, memory_order::release);  // the edge `busy`
  }

 private:
  std::shared_ptr<reader_state> state_;
};

/// The adapter from a handler of (error_code, Message). It has the handler's associations.
template <class Handler, class Message>
struct receive_handler {
  receive_turn turn;
  Handler handler;

  void operator()(error_code ec, received<Message> const& r) {
    if (!turn) ec = errc::wrong_state;
    if (!ec) turn.note_got(r.number);
    turn.end();  // the handler may receive again
    std::move(handler)(ec, r.message);
  }
};

}  // namespace detail

/// Copies are the same reader. Must not outlive the runtime.
template <message_type Message>
class channel_reader {
 public:
  /// A ref to a channel, or to any actor that answers `receive` alike.
  using source = messages_ref<rondo::ask<rondo::receive<Message>, received<Message>>>;

  /// `got`: of the reader before, if there was one.
  explicit channel_reader(source from, std::uint64_t got = 0)
      : from_(from), state_(std::make_shared<detail::reader_state>()) {
    state_->got = got;
  }

  /// Receives the next message, which it waits for, and completes with void(error_code, Message). Errors: wrong_state,
  /// and those of an ask: timed_out, cancelled, terminated if the channel ends meanwhile, actor_gone if it has ended.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto async_receive(time_limit timeout, Token&& token = {}) const {
    return boost::asio::async_initiate<Token, void(error_code, Message)>(
        // The messenger tells the token `block` on which threads it would wait for itself.
        [timeout, from = from_, state = state_](auto handler, messenger*) {
          detail::receive_turn turn(state);
          // An ask without time ends at once, and sends nothing: it only brings wrong_state to the handler.
          auto const terms = terms_of(turn ? timeout : time_limit(std::chrono::nanoseconds(0)));
          rondo::receive<Message> const request{turn ? turn.got() : 0};
          from.ask(request, terms,
                   detail::receive_handler<decltype(handler), Message>{std::move(turn), std::move(handler)});
        },
        token, &from_.mail());
  }
  /// The same without a time limit.
  template <class Token = boost::asio::use_awaitable_t<>>
  requires(!std::is_convertible_v<Token, time_limit>) auto async_receive(Token&& token = {}) const {
    return async_receive(time_limit(), std::forward<Token>(token));
  }

  /// Blocks until there is a message. Errors as async_receive, and would_deadlock, as with `block`.
  result<Message> receive(time_limit timeout = {}) const {
    detail::receive_turn turn(state_);
    auto const failed = [](error_code ec) { return result<Message>(boost::system::in_place_error, ec); };
    if (!turn) return failed(errc::wrong_state);
    auto const answer = from_.ask(rondo::receive<Message>{turn.got()}, terms_of(timeout), block);
    if (!answer) return failed(answer.error());
    turn.note_got(answer->number);
    return answer->message;
  }

  /// The number of the last message that it got, for a reader that follows. Only while no receive is open.
  std::uint64_t got() const noexcept { return state_->got; }

 private:
  static ask_options terms_of(time_limit timeout) noexcept {
    return {.timeout = timeout, .priority = receive_priority, .wait_for_room = true};
  }

  source from_;
  std::shared_ptr<detail::reader_state> state_;
};

}  // namespace rondo

// -- for Boost

/// Uses executor, allocator, and cancellation slot of the caller's handler.
template <template <class, class> class Associator, class Handler, class Message, class Default>
struct boost::asio::associator<Associator, rondo::detail::receive_handler<Handler, Message>, Default>
    : Associator<Handler, Default> {
  static typename Associator<Handler, Default>::type get(
      rondo::detail::receive_handler<Handler, Message> const& h, Default const& d = Default()) noexcept {
    return Associator<Handler, Default>::get(h.handler, d);
  }
};
