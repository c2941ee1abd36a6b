// Messages that a stream of NATS keeps until an actor has handled them and a checkpoint has what they did.
//
// The stream `rondo_SERVICE`, a work queue, stores the subjects `rondo.SERVICE.durable.ACTOR`, and its one consumer `service`
// gives them here. Payload and headers are those of a request (nats_requests.hpp); nobody is responded to, so each is told.
//
// Exactly once, in the actors' states, for each sequence of the stream:
//   1. A message is told to its actor once; its sequence enters the set when, and only when, the mailbox has it.
//   2. A checkpoint is taken only while no message is on its way to a mailbox, by the thread that tells them; the set goes into
//      its notes. So whatever is restored has handled, or has in its mailboxes, exactly the messages of its set.
//   3. A message is acknowledged only after such a checkpoint, with its sequence in the set, is on the disk.
//   4. One that comes again, and is in the set, is acknowledged after the next such checkpoint, and not told again.
// So nothing is lost or handled twice when this process, or the server, is killed at any moment. What an actor sends on is as
// durable as its own mail where it goes to actors of this runtime. Not covered: a runtime that loses its device goes on from its
// last checkpoint only in a new process; a server that loses messages it has confirmed (its host lost power: see `sync_interval`
// of nats-server) loses those.
//
// State and set belong together, so the consumer belongs to one running process: file_lock keeps a second one from the same
// checkpoint. One with another checkpoint is refused when the first answers at `rondo.SERVICE.durable_owner.alive`; where that
// fails, because a network is cut, the one that started later owns the consumer, and the other takes no more once it sees that.
//
// Refused, and logged, and gone from the stream: a message for an actor that does not live, or is not durable by the
// configuration; of an unknown type or a wrong size. One for a full mailbox waits, as long as it takes, and when `batch` messages
// wait the other actors' wait too. Order: that of the stream, but for messages that met a full mailbox, and those that come
// again.
//
// The set is the stream's own: one of the same name that was made anew begins with an empty set.
// Threads: one of its own; `checkpoint` from any, all else from one.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/nats/nats_stream.hpp"
#include "runtime/runtime.hpp"
#include "runtime/service/monitor/nats_counters.hpp"

namespace rondo::service {

struct durable_options {
  nats_counters& counters;  // outlives it
  std::string service = "rondo";
  std::vector<std::string> actors{};           // those that are durable
  std::filesystem::path checkpoint{};          // the file
  std::vector<std::byte> notes{};              // of the checkpoint that was restored
  int batch = 256;                             // messages between two checkpoints, at most
  std::chrono::milliseconds interval{250};     // between two checkpoints, unless `batch` messages have come
  std::chrono::milliseconds patience{10'000};  // for the server's answers
};

class durable_intake {
 public:
  /// `rt` and `link` outlive it. Throws config_error for notes that it did not write.
  durable_intake(rondo::runtime& rt, nats_link& link, durable_options options,
                 std::function<void(std::string const&)> log);
  /// Ends without another checkpoint.
  ~durable_intake();
  durable_intake(durable_intake const&) = delete;
  durable_intake& operator=(durable_intake const&) = delete;

  /// Throws nats_error when the stream cannot be used, or another process takes its messages.
  void start();
  /// Takes no new messages; those that were told are in the next checkpoint.
  void drain();
  /// Writes the file, and acknowledges what is in it. Blocks. Throws as rondo::checkpoint.
  void checkpoint();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rondo::service
