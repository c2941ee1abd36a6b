// Answers NATS requests with a service's actors: subscribes to `rondo.SERVICE.ACTOR` in the queue group
// `rondo.SERVICE`, so that several processes with one service name share the load.
//
// The payload is the bytes of the message's struct; the header Rondo-Type names its type (see nats_message.hpp). The
// actor is looked up by name for each message, so actors launched later are found, too; a name with dots, blanks, * or
// > has no subject. With a reply subject, a message that has a reply is asked: the response is the reply's bytes, with
// its type number in Rondo-Type, and Rondo-Status 0. A message that has no reply is told: the response has no payload,
// and confirms that the mailbox has the message. A refusal is a response with Rondo-Status and Rondo-Reason. Without a
// reply subject all messages are told, and refusals are logged, ten a second at most. Delivery is at most once, as
// always in core NATS.
//
// Bounded: at most `open_limit` requests are in flight; further ones are refused with ask_limit. So are those that get
// no place among the asks that all clients of the service share (quotas.hpp); all senders on NATS together are one of
// these clients. Each request ends after its Rondo-Deadline-Us, or after `longest`.
//
// Threads: construction, `drain` and destruction from one. Messages arrive on a thread of cnats. A separate thread
// sends the responses, so that no team waits for the network.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "runtime/nats/nats_link.hpp"
#include "runtime/nats/nats_target.hpp"
#include "runtime/service/monitor/nats_counters.hpp"
#include "runtime/service/net/quotas.hpp"

namespace rondo::service {

class nats_requests {
 public:
  static constexpr std::uint32_t default_open_limit = 4096;
  static constexpr std::chrono::seconds longest{60};

  /// `rt`, `link` and `counters` outlive it. Its requests are one peer of `tables`. Throws nats_error.
  nats_requests(rondo::runtime& rt, nats_link& link, std::string const& service,
                std::function<void(std::string const&)> const& log, nats_counters& counters,
                std::shared_ptr<quotas> tables, std::uint32_t open_limit = default_open_limit);
  /// Answers that come later are dropped.
  ~nats_requests();
  nats_requests(nats_requests const&) = delete;
  nats_requests& operator=(nats_requests const&) = delete;

  /// Takes no new requests, and waits at most `most` until all open ones are answered. Returns how many are still open.
  std::uint64_t drain(std::chrono::milliseconds most);

 private:
  struct state;
  std::shared_ptr<state> state_;  // shared with the asks in flight
  nats_subscription subscription_;
  process_ptr<std::thread> responder_;
};

}  // namespace rondo::service
