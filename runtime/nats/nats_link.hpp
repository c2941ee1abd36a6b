// A connection to NATS: subscriptions and publishing. A thin layer over cnats.
//
// When the server goes away, cnats tries to reconnect without limit, and buffers what is sent in the meantime (8 MiB;
// beyond that, sending fails). Core NATS delivers at most once: a subscriber that is disconnected, or more than 65536
// messages behind, loses messages. Use a nats_stream for messages that must not be lost.
//
// Threads: any, concurrently. Callbacks run on threads of cnats, one per subscription, and one for `lost`, `again` and
// `trouble`; what they throw is reported to `trouble`. A callback must not destroy its own subscription or link.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "runtime/nats/nats_message.hpp"

namespace rondo::service {

struct nats_link_options {
  /// nats://host:port, or several separated by commas; user:password@ may precede the host.
  std::string url = "nats://127.0.0.1:4222";
  /// The name of this client in the server's lists, for people.
  std::string name = "rondo";
  std::chrono::milliseconds connect_timeout{2000};
  std::chrono::milliseconds reconnect_wait{250};
  /// Do not require the server to run yet: `again` is called when it is there.
  bool patient = false;
  std::function<void()> lost = {};
  std::function<void()> again = {};
  /// Reports errors in the background: a slow subscriber, a refused subject, an exception from a callback.
  std::function<void(std::string const&)> trouble = {};
};

/// A subscription, until it is destroyed; after that its callback does not run any more.
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
  explicit nats_subscription(std::unique_ptr<state> made) noexcept;
  std::unique_ptr<state> state_;
};

class nats_link {
 public:
  /// Throws nats_error if no server answers, unless `patient`.
  explicit nats_link(nats_link_options options);
  /// Closes the connection. No callback runs after it.
  ~nats_link();
  nats_link(nats_link const&) = delete;
  nats_link& operator=(nats_link const&) = delete;

  bool connected() const noexcept;
  /// Waits for the connection. False on timeout.
  bool wait_connected(std::chrono::milliseconds timeout) const;

  /// Each message goes to one member of a queue group. Returns once the server knows of the subscription, or at once while
  /// disconnected.
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

  natsConnection* get() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rondo::service
