// A connection to NATS: subscriptions and publishing. A thin layer over cnats.
//
// When the server goes away, cnats tries to reconnect without limit, and buffers what is sent in the meantime (8 MiB;
// beyond that, sending fails). cnats gives up for good when a server refuses it: with the same authentication error
// twice, or with any other error of the protocol. Then the link makes a new connection, with its subscriptions, again
// and again; what was buffered is lost. So a link ends only when it is destroyed.
//
// Core NATS delivers at most once: a subscriber that is disconnected, or more than 65536 messages behind, loses
// messages. Use a nats_stream for messages that must not be lost.
//
// Threads: any, concurrently. Callbacks of subscriptions run on threads of cnats, one per subscription; `changed` and
// `trouble` on another one of cnats or on the link's own, one at a time. What they throw is reported to `trouble`. A
// callback must not subscribe, or destroy its own subscription or link.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "runtime/nats/nats_message.hpp"
#include "runtime/os/made_here.hpp"

namespace rondo::service {

/// Why a link is not connected.
struct nats_obstacle {
  std::string why{};        // empty: it is connected
  bool is_refusal = false;  // a server answers, but refuses the login
};

struct nats_link_options {
  /// See nats_servers.hpp.
  std::string url = "nats://127.0.0.1:4222";
  /// The name of this client in the server's lists, for people.
  std::string name = "rondo";
  std::chrono::milliseconds connect_timeout{2000};
  /// Between two attempts to connect. After refusals it doubles, up to two seconds.
  std::chrono::milliseconds reconnect_wait{250};
  /// Do not require the server to run yet: `changed` is called when it is there.
  bool patient = false;
  /// The connection is lost, or there again, or cannot be made for another reason than before.
  std::function<void(nats_obstacle const&)> changed = {};
  /// Reports other errors in the background: a slow subscriber, a refused subject, an exception from a callback.
  std::function<void(std::string const&)> trouble = {};
};

/// A subscription, until it is destroyed; after that its callback does not run any more. A forked child's copy does
/// nothing.
class nats_subscription {
 public:
  nats_subscription() noexcept;
  nats_subscription(nats_subscription&&) noexcept;
  nats_subscription& operator=(nats_subscription&&) noexcept;
  ~nats_subscription();

  /// Takes no new messages, and waits at most `timeout` until the callback has had all that arrived.
  void drain(std::chrono::milliseconds timeout);

 private:
  friend class nats_link;
  struct state;
  explicit nats_subscription(process_ptr<state> made) noexcept;
  process_ptr<state> state_;
};

class nats_link {
 public:
  /// Throws nats_error if no server answers, unless `patient`; config_error for a wrong url.
  explicit nats_link(nats_link_options options);
  /// Closes the connection. No callback runs after it. An attempt to connect is waited for. A forked child's copy does
  /// nothing.
  ~nats_link();
  nats_link(nats_link const&) = delete;
  nats_link& operator=(nats_link const&) = delete;

  bool connected() const noexcept;
  /// Waits for the connection. False on timeout.
  bool wait_connected(std::chrono::milliseconds timeout) const;
  nats_obstacle obstacle() const;

  /// Each message goes to one member of a queue group. Returns once the server knows of the subscription, or at once
  /// while disconnected. The link outlives the subscription.
  nats_subscription subscribe(std::string const& subject, std::string const& queue_group,
                              std::function<void(nats_message)> use);

  /// Returns before the message has arrived.
  void publish(nats_message const& message);
  /// Precondition: `to` has a reply_to.
  void reply(nats_message const& to, std::span<std::byte const> payload, nats_headers const& headers = {});
  /// Sends, and waits for the reply. Throws nats_error with NATS_TIMEOUT, or with NATS_NO_RESPONDERS if there is no
  /// subscriber.
  nats_message request(nats_message const& message, std::chrono::milliseconds timeout);
  /// Waits until the server has received all that was published. Throws nats_error.
  void flush(std::chrono::milliseconds timeout);

  /// The present connection of cnats. It is another one after cnats has given one up; null before the first.
  std::shared_ptr<natsConnection> get() const;

 private:
  struct connection;
  struct state;
  friend class nats_subscription;
  process_ptr<state> state_;
};

}  // namespace rondo::service
