// A durable NATS queue: a JetStream stream and its one durable consumer, which belongs to one process.
//
// The server stores each message when it is published, delivers it to the consumer, and redelivers it after `ack_wait`
// until it is acknowledged. Delivery is at least once, so the receiver must recognise a redelivery by its sequence. An
// acknowledged message leaves the stream. Seen with nats-server 2.9: it confirms an acknowledgement before that is on
// its disk, so a server that is killed may redeliver an acknowledged message.
//
// It works on the connection that the link has when it is made, until somebody removes the stream or its consumer.
// After that make another one: see is_mine.
//
// Threads: one at a time in `fetch`. One thread at a time per message, but any thread.
#pragma once

#include <vector>

#include "runtime/nats/nats_link.hpp"

namespace rondo::service {

struct nats_stream_options {
  std::string stream = "rondo";
  /// The subjects that the stream stores, such as `rondo.actor.>`.
  std::vector<std::string> subjects = {};
  /// The consumer's name.
  std::string durable = "rondo";
  /// How many messages may be delivered and not yet acknowledged.
  std::int64_t max_ack_pending = 1024;
  std::chrono::milliseconds ack_wait{30'000};
  /// The process that the consumer belongs to. An existing consumer is replaced, so that what its owner had not
  /// acknowledged is redelivered at once.
  std::string owner = {};
  /// Whether a consumer of another owner may be replaced. If not, finding one is an error, NATS_NOT_PERMITTED.
  bool take_over = true;
};

/// The server's view of a stream.
struct stream_facts {
  std::int64_t created_ns = 0;        // since 1970; a later stream of the same name has another time
  std::uint64_t first = 0, last = 0;  // sequences; first == last + 1 when it is empty
};

/// A message that must be acknowledged. One that is destroyed without that is redelivered after `ack_wait`.
class stored_message : public nats_message {
 public:
  /// Throws nats_error when it does not come from a stream.
  stored_message(nats_message came, nats_link& through);

  /// Its number in the stream: unique, and the same for each delivery.
  std::uint64_t sequence() const noexcept { return sequence_; }
  /// 1 for the first delivery.
  std::uint64_t deliveries() const noexcept { return deliveries_; }

  // Each throws nats_error if it cannot be sent. Only one of them may be called, and once.
  /// Handled. Returns before the server has it: a server that dies now redelivers the message.
  void ack();
  /// Never redeliver it: it cannot be handled.
  void term();

 private:
  void say(std::string_view word, std::string_view what) const;
  nats_link* link_;  // outlives it
  std::uint64_t sequence_ = 0, deliveries_ = 0;
};

class nats_stream {
 public:
  /// Creates the stream if it does not exist, and its consumer. Waits for the server for at most `timeout`. Throws
  /// nats_error if the server has no JetStream, or has a stream of this name with other settings. `link` outlives this.
  nats_stream(nats_link& link, nats_stream_options options, std::chrono::milliseconds timeout);
  ~nats_stream();
  nats_stream(nats_stream const&) = delete;
  nats_stream& operator=(nats_stream const&) = delete;

  /// Waits for a message, and returns at most `most` of those available. Returns none on timeout, also while the server
  /// is away. Throws nats_error with NATS_NOT_FOUND if the consumer is gone.
  std::vector<stored_message> fetch(int most, std::chrono::milliseconds timeout);

  /// Throws nats_error if the server does not answer, or has no such stream.
  stream_facts look();
  /// Whether the stream and its consumer exist, and the consumer belongs to `owner`. Throws nats_error if the server
  /// does not answer.
  bool is_mine();
  /// Whether the link still has the connection that this works on.
  bool is_on_connection() const noexcept;

 private:
  struct state;
  process_ptr<state> state_;
};

}  // namespace rondo::service
