// A client of a service: the same refs as in the service's own process, over a socket.
//
//   rondo::service::client c{{.at = rondo::service::default_socket("demo")}};
//   auto clicks = c.find<counter>("clicks").value();
//   total t = clicks.ask(get{}, 10ms, rondo::block).value();
//
// It connects and reconnects automatically. A message whose response was lost with the connection is resent under the
// same key, so it is handled only once. If the service was restarted in between, the message's fate is unknown:
// outcome_unknown. Messages that had not been sent yet go to the new service.
//
// Owns one thread. Threads: all functions from any thread. Completion handlers run on their executor or, without one,
// on the client's thread, where blocking requests fail with would_deadlock. Lifetime: outlives all uses of its refs.
// Requests that are open when it is destroyed complete with cancelled.
#pragma once

#include <boost/asio/async_result.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/messaging/actor_ref.hpp"
#include "runtime/messaging/blocking.hpp"
#include "runtime/messaging/completions.hpp"
#include "runtime/service/net/default_socket.hpp"

namespace rondo::service {

/// How a client connects.
struct client_options {
  endpoint at;                               // the service's address
  std::string token{};                       // if the service requires one
  bool tls = false;                          // for tcp
  std::filesystem::path authorities{};       // PEM file; empty: the system's
  std::string server_name{};                 // in the certificate; empty: the address
  std::string program = "rondo client";      // the client's name in the service's log
  std::uint32_t max_frame_bytes = 16 << 20;  // of a response
  std::chrono::milliseconds connect_timeout{
      2'000};  // how long requests wait for a connection before peer_gone
};

/// The response to a request, or why there is none.
struct response_bytes {
  error_code ec;                 // peer_gone, timed_out, outcome_unknown, cancelled, service_refuses; or none
  std::string why;               // in words
  std::vector<std::byte> frame;  // of schemas/wire.fbs, verified; empty with an error
};

template <class Behaviour>
class client_ref;

class client {
 public:
  /// Returns at once; the first request connects.
  explicit client(client_options options);
  /// Completes open requests with `cancelled`. In a handler on the client's own thread, those are called after that one
  /// has returned. A forked child's copy does nothing.
  ~client();
  client(client const&) = delete;
  client& operator=(client const&) = delete;

  /// The live actor of this name. Blocks. Errors: not_found, also if it has another behaviour, and those of a request.
  template <class Behaviour>
  result<client_ref<Behaviour>> find(std::string const& name) {
    auto const id = find_untyped(name, type_name<Behaviour>);
    if (!id) return id.error();
    return client_ref<Behaviour>{*this, *id};
  }
  /// An empty behaviour matches any.
  result<actor_id> find_untyped(std::string const& name, std::string_view behaviour = {});

  /// An actor, named by its id or by its name.
  struct destination {
    actor_id id{};       // valid, or `name` is used
    std::string name{};  // if `id` is not valid
  };
  /// How a message is sent.
  struct send_options {
    std::uint8_t priority = default_priority;  // 255 is handled first
    time_limit deadline = no_timeout;          // zero or less: timed_out at once, and nothing is sent
    bool wants_reply = false;                  // it is an ask
    bool wait_for_room = false;                // a full mailbox is not an error
    std::uint64_t trace = 0;                   // not 0: the service records its path under this id
    time_limit patience =
        no_timeout;  // timed_out after it, too; the service does not hear of it, and may still accept
  };
  /// Sends a message. `handler` gets the actor's reply or, without wants_reply, whether the mailbox accepted it.
  void send(destination const& to, std::uint32_t type, std::span<std::byte const> payload,
            send_options options, answer_handler handler);
  /// The last error, in words: of the connection, or reported by the service.
  std::string last_words() const;

  /// Gets the response, once.
  using response_handler = std::function<void(response_bytes)>;
  /// Sends any request: a frame of schemas/wire.fbs, whose id is set here. It is never resent. A timeout of zero or
  /// less: timed_out, and nothing is sent.
  void request(std::span<std::byte const> frame, std::chrono::milliseconds timeout, response_handler handler);
  /// The same, and waits for the response. Errors: also would_deadlock, on this client's thread and after a fork.
  response_bytes request(std::span<std::byte const> frame, std::chrono::milliseconds timeout);

  /// The service's name; empty before the first connection.
  std::string service_name() const;
  /// The number of connections made so far.
  std::uint64_t connections_made() const noexcept;
  /// The number of requests without a response.
  std::size_t open() const;
  /// For `block`.
  friend own_threads const* threads_of(client const* c) noexcept { return c->threads(); }

 private:
  class link;
  template <class Behaviour>
  friend class client_ref;

  /// As `send`, for a handler that keeps the work on its executor.
  void submit(destination const& to, std::uint32_t type, std::span<std::byte const> payload,
              send_options options, answer_handler handler);
  own_threads const* threads() const noexcept;

  std::shared_ptr<link> link_;
};

/// Like actor_ref, for an actor in another process.
template <class Behaviour>
class client_ref {
 public:
  /// The client must outlive the ref.
  client_ref(client& c, actor_id id) noexcept : client_(&c), id_(id) {}
  /// Names this life of the actor.
  actor_id id() const noexcept { return id_; }

  /// Completes with void(error_code): whether the mailbox accepted the message. Errors: those of actor_ref::tell, and
  /// peer_gone, outcome_unknown, service_refuses.
  template <sent_to<Behaviour> Message, class Token = boost::asio::use_awaitable_t<>>
  auto tell(Message const& m, tell_options options = {}, Token&& token = {}) const {
    return boost::asio::async_initiate<Token, void(error_code)>(
        [](auto handler, client* c, actor_id to, Message body, tell_options o) {
          c->submit({to, {}}, type_id<Message>, std::as_bytes(std::span(&body, 1)),
                    {.priority = o.priority,
                     .deadline = o.deadline.count() != 0 ? time_limit(o.deadline) : time_limit(),
                     .wait_for_room = o.wait_for_room,
                     .trace = o.trace},
                    answer_handler(rondo::detail::typed_answer<decltype(handler), void>{std::move(handler)}));
        },
        token, client_, id_, m, options);
  }
  /// Completes with void(error_code, Reply).
  template <asked_of<Behaviour> Message, class Token = boost::asio::use_awaitable_t<>>
  auto ask(Message const& m, ask_options options, Token&& token = {}) const {
    using reply = reply_to_t<Behaviour, Message>;
    return boost::asio::async_initiate<Token, void(error_code, reply)>(
        [](auto handler, client* c, actor_id to, Message body, ask_options o) {
          c->submit(
              {to, {}}, type_id<Message>, std::as_bytes(std::span(&body, 1)),
              {.priority = o.priority, .deadline = o.timeout, .wants_reply = true, .trace = o.trace},
              answer_handler(rondo::detail::typed_answer<decltype(handler), reply>{std::move(handler)}));
        },
        token, client_, id_, m, options);
  }
  /// The same with a time limit and otherwise default options.
  template <asked_of<Behaviour> Message, class Rep, class Period,
            class Token = boost::asio::use_awaitable_t<>>
  auto ask(Message const& m, std::chrono::duration<Rep, Period> timeout, Token&& token = {}) const {
    return ask(m, ask_options{.timeout = timeout}, std::forward<Token>(token));
  }

 private:
  client* client_;
  actor_id id_;
};

}  // namespace rondo::service
