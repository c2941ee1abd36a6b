// Delivers stored NATS messages to durable actors exactly once: the stream keeps each message until a checkpoint
// includes its effect.
//
// The stream `rondo_SERVICE`, a work queue, stores the subjects `rondo.SERVICE.durable.ACTOR`; its one consumer,
// `service`, delivers them here. Payload and headers are those of a request (nats_requests.hpp). There is no response:
// every message is told.
//
// Exactly once, in the actors' states, for each sequence of the stream:
//   1. A message is told to its actor once. Its sequence enters the set if and only if the mailbox has accepted it.
//   2. The thread that tells the messages takes the checkpoints, and only while no message is on its way to a mailbox;
//      the set goes into the notes. So a restored runtime has handled, or has in its mailboxes, exactly the messages of
//      its set.
//   3. A message is acknowledged only after such a checkpoint, with its sequence in the set, is on disk.
//   4. A redelivered message that is in the set is acknowledged after the next such checkpoint, and not told again.
// So no message is lost or handled twice if this process or the server is killed at any moment. What an actor sends to
// other actors of this runtime is as durable as its own mail. Not covered: a runtime that loses its device continues
// from its last checkpoint only in a new process; a server that loses messages it has confirmed (its host lost power:
// see `sync_interval` of nats-server) loses those.
//
// State and set belong together, so the consumer belongs to one running process. file_lock keeps a second process from
// using the same checkpoint. A process with another checkpoint is refused if the first one answers at
// `rondo.SERVICE.durable_owner.alive`. If that fails because a network is cut, the process that started later owns the
// consumer; the other stops taking messages once it notices that.
//
// A message is refused, logged, and removed from the stream if its actor does not exist or is not configured as
// durable, or if its type is unknown or its size wrong. A message for a full mailbox waits for as long as it takes;
// when `batch` messages wait, those of other actors wait, too. Messages are told in the order of the stream, except
// those that met a full mailbox and those that are redelivered.
//
// The set belongs to one stream: a new stream of the same name starts with an empty set. A stream or a consumer that
// somebody removes is made again, at the latest two seconds later; messages that were in it are gone.
// Threads: owns one. `checkpoint` and `why_idle` from any, everything else from one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/nats/durable_notes.hpp"
#include "runtime/nats/nats_stream.hpp"
#include "runtime/net/log_throttle.hpp"
#include "runtime/runtime.hpp"
#include "runtime/service/left_out_log.hpp"
#include "runtime/service/monitor/nats_counters.hpp"

namespace rondo::service {

struct durable_options {
  nats_counters& counters;  // outlives it
  std::string service = "rondo";
  std::vector<std::string> actors{};           // the durable ones
  std::filesystem::path checkpoint{};          // the file
  std::vector<std::byte> notes{};              // of the restored checkpoint
  int batch = 256;                             // messages between two checkpoints, at most
  std::chrono::milliseconds interval{250};     // between two checkpoints, unless `batch` messages have come
  std::chrono::milliseconds patience{10'000};  // how long to wait for the server
};

/// Destroying it stops it, without another checkpoint.
class durable_intake {
 public:
  /// `rt` and `link` outlive it. Throws config_error for notes that it did not write.
  durable_intake(rondo::runtime& rt, nats_link& link, durable_options options,
                 std::function<void(std::string const&)> const& log);
  durable_intake(durable_intake const&) = delete;
  durable_intake& operator=(durable_intake const&) = delete;

  /// Throws nats_error if the stream cannot be used, or if another process takes its messages.
  void start();
  /// Stops taking messages. Those already told are in the next checkpoint.
  void drain();
  /// Writes the file and acknowledges the messages in it. Blocks. Throws as rondo::checkpoint does.
  void checkpoint();
  /// Why stored messages wait in their stream; empty while they are taken, and while the connection is lost.
  std::string why_idle() const;

 private:
  using clock = std::chrono::steady_clock;
  using messages = std::map<std::uint64_t, stored_message>;  // by sequence

  void run(std::stop_token const& stop);
  void turn();
  void claim();
  void open(bool take_over);
  bool is_mine() {
    looked_ = clock::now();
    return stream_->is_mine();
  }
  void meet_stream(stream_facts const& facts);
  void fetch();
  void take(stored_message m);
  bool tell();
  void settle(messages::iterator m, errc reason);
  void end(messages::iterator m, std::string const& why);
  bool is_due() const;
  void write();
  void trouble(std::string const& text);
  void went_well();
  void wait(std::chrono::milliseconds time);
  void answer_wishes();
  bool is_draining() {
    std::lock_guard lock(mutex_);
    return draining_;
  }

  rondo::runtime& rt_;
  nats_link& link_;
  durable_options const options_;
  std::function<void(std::string const&)> const log_;
  throttled_log refusals_, losses_;
  left_out_log left_out_;
  std::string const owner_;

  // -- used by the thread, and by `start` before it
  std::unique_ptr<nats_stream> stream_;
  durable_notes notes_;
  messages waiting_;  // not in a mailbox yet
  messages taken_;    // in the set, and not yet in a checkpoint
  bool another_owns_ = false;
  nats_subscription alive_;     // tells other processes that this one lives
  clock::time_point looked_{};  // when the consumer was last checked
  clock::time_point wrote_{};   // the last checkpoint

  // -- between threads; guarded by the mutex
  mutable std::mutex mutex_;
  std::string why_idle_;
  std::condition_variable_any changed_;
  bool draining_ = false;
  std::vector<std::promise<void>> wishes_;  // checkpoints that are waited for
  process_ptr<std::jthread> thread_;        // last: it uses all of the above
};

}  // namespace rondo::service
