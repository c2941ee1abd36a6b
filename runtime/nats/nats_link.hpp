// A connection to NATS: subscriptions and publishing. A thin layer over cnats.
//
// The connection is kept for ever: when the server goes, cnats looks for it again and again, and what is sent meanwhile
// waits in its buffer (8 MiB; beyond that, sending is an error). Core NATS delivers at most once: a subscriber that is
// away, or more than 65536 messages behind, loses them. What must not be lost goes through a nats_stream.
//
// Threads: any, at once. Callbacks run on threads of cnats, one per subscription, and one for `lost`, `again` and
// `trouble`; what they throw ends in `trouble`. A subscription must not be destroyed, nor a link, by a callback of its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "runtime/nats/nats_message.hpp"

namespace rondo::service {

struct nats_link_options {
  /// nats://host:port, or several with commas; user:password@ before the host.
  std::string url = "nats://127.0.0.1:4222";
  /// For people: how the server's lists call this client.
  std::string name = "rondo";
  std::chrono::milliseconds connect_timeout{2000};
  std::chrono::milliseconds reconnect_wait{250};
  /// The server need not be there yet: `again` says when it is.
  bool patient = false;
  std::function<void()> lost = {};
  std::function<void()> again = {};
  /// What went wrong in the background: a slow subscriber, a refused subject, an exception of a callback.
  std::function<void(std::string const&)> trouble = {};
};

/// Hears a subject until it is destroyed; then no callback of it runs any more.
class nats_subscription {
 public:
  nats_subscription() noexcept;
  nats_subscription(nats_subscription&&) noexcept;
  nats_subscription& operator=(nats_subscription&&) noexcept;
  ~nats_subscription();

  /// Hears nothing new, and waits until all that has come was given to its callback, for at most so long.
  void drain(std::chrono::milliseconds timeout);

 private:
  friend class nats_link;
  struct state;
  explicit nats_subscription(std::unique_ptr<state> made) noexcept;
  std::unique_ptr<state> state_;
};

class nats_link {
 public:
  /// Throws nats_error when no server answers, unless `patient`.
  explicit nats_link(nats_link_options options);
  /// Closes; no callback runs after it.
  ~nats_link();
  nats_link(nats_link const&) = delete;
  nats_link& operator=(nats_link const&) = delete;

  bool connected() const noexcept;
  /// Waits for the server; false at the end of the time.
  bool wait_connected(std::chrono::milliseconds timeout) const;

  /// Of the members of a queue group each message goes to one. Returns when the server knows of it, or at once while the
  /// server is away.
  nats_subscription subscribe(std::string const& subject, std::string const& queue_group,
                              std::function<void(nats_message)> use);

  /// On its way, not arrived.
  void publish(nats_message const& message);
  /// Precondition: `to` has a reply_to.
  void reply(nats_message const& to, std::span<std::byte const> payload, nats_headers const& headers = {});
  /// Sends, and waits for the reply. Throws nats_error with NATS_TIMEOUT, or NATS_NO_RESPONDERS when nobody hears the subject.
  nats_message request(nats_message const& message, std::chrono::milliseconds timeout);
  /// Until the server has had all that was published. Throws nats_error.
  void flush(std::chrono::milliseconds timeout);

  natsConnection* get() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rondo::service
