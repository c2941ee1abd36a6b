// One message to many actors.
//
//   auto const crowd = rt.launch_many<walker>(1'000'000);
//   rondo::told const t = rondo::tell_all(rt, crowd, step{}, {}, rondo::block).value();
//
// It takes the room of one message, however many actors there are: each gets its copy when its mailbox has room and a
// mail block is free, while the others wait. At most 64 copies wait for the room of slow actors, or on their way to a
// device with its own memory; beyond them, the fast ones wait, too.
//
// Threads: any. The runtime's own thread sends, in parts, between the completions of others.
#pragma once

#include <boost/asio/async_result.hpp>
#include <functional>
#include <span>
#include <vector>

#include "runtime/runtime.hpp"

namespace rondo {

/// What became of a message to many.
struct told {
  std::size_t accepted = 0;  // actors in whose mailbox it is, or was
  std::size_t gone = 0;      // actors that have terminated
};

namespace detail {

struct told_outcome {
  error_code reason{};
  told found{};
};
struct recipient {
  messenger* mail;
  actor_id id;
};
/// `at(i)`: the actors, `count` of them, until `handler` is called.
void tell_all(runtime& rt, std::size_t count, std::function<recipient(std::size_t)> at, message const& m,
              boost::asio::any_completion_handler<void(told_outcome)> handler);

}  // namespace detail

/// Tells `m` to each of `actors`, and completes with void(error_code, told) once all have accepted it or are gone.
/// That some are gone is no error. Errors: timed_out at the deadline, deadline_too_long, and once the runtime has
/// ended those of try_tell; then the actors that come later do not get it. An actor that is deactivated, or slow, and
/// whose mailbox is full, delays the end; so does one that holds mail blocks while others need them. Give a deadline
/// where that may be. It waits for room in any case, and is not traced. Order: a message that its caller sends after
/// the completion comes later everywhere. Precondition: `actors` stays as it is until then.
template <class Behaviour, sent_to<Behaviour> Message,
          boost::asio::completion_token_for<void(error_code, told)> Token = boost::asio::use_awaitable_t<>>
auto tell_all(runtime& rt, std::span<actor_ref<Behaviour> const> actors, Message const& m,
              tell_options options = {}, Token&& token = {}) {
  message one;
  one.header = actor_ref<Behaviour>::template header_for<Message>(options);
  one.bytes = sizeof m;
  __builtin_memcpy(one.payload, &m, sizeof m);
  return boost::asio::async_initiate<Token, void(error_code, told)>(
      [](auto handler, runtime* of, std::span<actor_ref<Behaviour> const> to, message const& what) {
        detail::tell_all(
            *of, to.size(),
            [to](std::size_t i) {
              return detail::recipient{&to[i].mail(), to[i].id()};
            },
            what, detail::typed_answer<decltype(handler), told>{std::move(handler)});
      },
      token, &rt, actors, one);
}
/// The same of a vector.
template <class Behaviour, sent_to<Behaviour> Message,
          boost::asio::completion_token_for<void(error_code, told)> Token = boost::asio::use_awaitable_t<>>
auto tell_all(runtime& rt, std::vector<actor_ref<Behaviour>> const& actors, Message const& m,
              tell_options options = {}, Token&& token = {}) {
  return tell_all(rt, std::span(actors), m, options, std::forward<Token>(token));
}

}  // namespace rondo
