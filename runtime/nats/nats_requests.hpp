// Answers NATS requests with a service's actors: `rondo.SERVICE.ACTOR`, in the queue group `rondo.SERVICE`, so that services
// of one name, in several processes, share the load.
//
// The payload is the bytes of the message's struct, the header Rondo-Type says which (see nats_message.hpp). The actor is
// looked up by its name each time, so those that are launched later are found too; a name with dots, blanks, * or > has no
// subject. With a reply subject, a message that has a reply is asked: the response is the reply's bytes with Rondo-Type, its
// number, and Rondo-Status 0; one that has none is told, and its response, without a payload, says that the mailbox has it.
// What cannot be is responded to with Rondo-Status and Rondo-Reason. Without a reply subject it is told, and a refusal is
// logged. At most once, as all of core NATS.
//
// Bounded: at most `open_limit` are on their way; beyond that they are refused with ask_limit. None stays open longer than its
// Rondo-Deadline-Us, or `longest`.
//
// Threads: construction, `drain` and destruction from one. Messages come on a thread of cnats, responses go out from one of its
// own, so that no team waits for the network.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "runtime/nats/nats_link.hpp"
#include "runtime/nats/nats_target.hpp"
#include "runtime/service/monitor/nats_counters.hpp"

namespace rondo::service {

class nats_requests {
 public:
  static constexpr std::uint32_t default_open_limit = 4096;
  static constexpr std::chrono::seconds longest{60};

  /// `rt`, `link` and `counters` outlive it. Throws nats_error.
  nats_requests(rondo::runtime& rt, nats_link& link, std::string const& service,
                std::function<void(std::string const&)> log, nats_counters& counters,
                std::uint32_t open_limit = default_open_limit);
  /// Answers that come later are dropped.
  ~nats_requests();
  nats_requests(nats_requests const&) = delete;
  nats_requests& operator=(nats_requests const&) = delete;

  /// Hears nothing new, and waits until all that came is answered, for at most so long. Returns how many are still open.
  std::uint64_t drain(std::chrono::milliseconds most);

 private:
  struct state;
  std::shared_ptr<state> state_;  // shared with the asks that are on their way
  nats_subscription subscription_;
  std::thread responder_;
};

}  // namespace rondo::service
