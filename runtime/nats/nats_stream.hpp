// Messages of NATS that survive a crash: a stream of JetStream and one durable consumer, shared by all who fetch from it.
//
// Each message is stored by the server when it is published, given to one of the fetchers, and given again after `ack_wait`
// (or when it is nak'ed) until somebody acknowledges it: at least once, so whoever handles it must know a second delivery
// by its sequence. An acknowledged message leaves the stream. Seen with nats-server 2.9: it confirms an acknowledgement
// before that is on its disk, so a server that is killed may give an acknowledged message again.
//
// Threads: one at a time in `fetch`; `publish` from any. Each message by one thread at a time, and any one.
#pragma once

#include <vector>

#include "runtime/nats/nats_link.hpp"

namespace rondo::service {

struct nats_stream_options {
  std::string stream = "rondo";
  /// What the stream stores: `rondo.actor.>`.
  std::vector<std::string> subjects = {};
  /// The consumer's name. Those who give the same one share the messages.
  std::string durable = "rondo";
  /// Messages that may be out at once, not yet acknowledged, with all fetchers together.
  std::int64_t max_ack_pending = 1024;
  std::chrono::milliseconds ack_wait{30'000};
  /// Not empty: the consumer belongs to one process at a time, which goes by this name. One that is there is replaced, so that
  /// what its owner had not acknowledged is given at once.
  std::string owner = {};
  /// Whether a consumer of another owner may be replaced; else it is an error, NATS_NOT_PERMITTED.
  bool take_over = true;
};

/// A stream as its server knows it.
struct stream_facts {
  std::int64_t created_ns = 0;        // since 1970: another stream of the same name has another
  std::uint64_t first = 0, last = 0;  // sequences; first == last + 1 when it is empty
  std::uint64_t messages = 0;
};

/// A message that waits for its acknowledgement. One that is destroyed without is given again after `ack_wait`.
class stored_message : public nats_message {
 public:
  /// Throws nats_error when it does not come from a stream.
  stored_message(nats_message came, nats_link& through);

  /// Its place in the stream: the same for each delivery, and no other message's.
  std::uint64_t sequence() const noexcept { return sequence_; }
  /// 1 the first time.
  std::uint64_t deliveries() const noexcept { return deliveries_; }

  // Each throws nats_error when it cannot be sent; after `ack`, `nak` and `term` no other is allowed.
  /// Handled. It is on its way to the server, not arrived: a server that dies now gives the message again.
  void ack();
  /// The same, and waits until the server has had it.
  void ack_and_wait(std::chrono::milliseconds timeout);
  /// Not now: given again after `delay`.
  void nak(std::chrono::milliseconds delay = {});
  /// Never again: it cannot be handled.
  void term();
  /// Still at work: `ack_wait` begins anew.
  void in_progress();

 private:
  void say(std::string_view word, std::string_view what) const;
  nats_link* link_;  // outlives it
  std::uint64_t sequence_ = 0, deliveries_ = 0;
};

class nats_stream {
 public:
  /// Makes the stream and its consumer where they are missing; waits for the server for at most `timeout`. Throws nats_error
  /// when the server has no JetStream, or has a stream or consumer of these names that is set otherwise. `link` outlives this.
  nats_stream(nats_link& link, nats_stream_options options, std::chrono::milliseconds timeout);
  ~nats_stream();
  nats_stream(nats_stream const&) = delete;
  nats_stream& operator=(nats_stream const&) = delete;

  /// Waits until there is a message, and takes at most `most` of those that are there. None at the end of the time, also
  /// while the server is away. Throws nats_error when the consumer is gone.
  std::vector<stored_message> fetch(int most, std::chrono::milliseconds timeout);

  /// Throws nats_error when the server does not answer, or has no such stream.
  stream_facts look();
  /// Whether the consumer is there, and the owner's. Throws nats_error when the server does not answer.
  bool is_mine();

  /// Returns its sequence once the server has stored it. Two of the same `id`, if there is one, within two minutes are stored once.
  /// Throws nats_error when the server has not said so in time: it may or may not be stored.
  std::uint64_t publish(nats_message const& message, std::chrono::milliseconds timeout,
                        std::string const& id = {});

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rondo::service
