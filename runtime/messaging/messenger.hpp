// The messenger of one device sends to its actors: tells, asks, messages that wait for room, and messages from actors of
// other devices.
//
// A message takes the device's route at once (runtime/messaging/route.hpp), or else waits in a line
// (runtime/messaging/mail_lines.hpp, which also explains the order of messages).
//
// Threads: all functions from any thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/base/outgoing.hpp"
#include "runtime/messaging/answer.hpp"
#include "runtime/messaging/obstacles.hpp"
#include "runtime/messaging/route.hpp"

namespace rondo {

class completions;
class mail_lines;
class own_threads;
class trace_log;

class messenger {
 public:
  /// Gets each accepted message that then found no room or no actor, if no sender waits for its outcome; and each such
  /// forwarded message, whose asker it must notify.
  using dead_end = std::function<void(outgoing const&, errc)>;

  /// `asks`, `traces`, and `threads`, which complete the asks, are shared by the whole runtime.
  messenger(route to_device, completions& asks, trace_log& traces, own_threads const& threads,
            boost::asio::any_io_executor executor, std::uint64_t spin_ns, dead_end undelivered);
  ~messenger();

  /// Sends without waiting. On a far route, ok means that the message is in transit; if the mailbox then has no room, its
  /// ask completes with mailbox_full, or it becomes a dead letter. Fails with mailbox_full while earlier messages of its
  /// priority wait for room in the same mailbox.
  errc try_post(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes) {
    if (samples_ && takes_next_trace()) [[unlikely]]
      return try_post_traced(to, header, payload, bytes, 0);
    if (route_.is_near() && !obstacles_.any()) [[likely]]
      return route_.post_near(to, header, payload, bytes);
    return send({to, header, payload, bytes});
  }
  /// The same for a message that is traced under this number; 0: a new number.
  errc try_post_traced(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes,
                       std::uint64_t trace);
  /// Sends `count` messages `stride` bytes apart, all or none; otherwise as try_post. They are not traced.
  errc try_post_batch(actor_id to, message_header const& header, void const* payloads, std::uint32_t bytes,
                      std::uint32_t stride, std::uint32_t count) {
    return send({to, header, payloads, bytes, stride, count});
  }
  /// Sends for an independent sender, such as a timer: not ordered with the messages of other senders.
  errc try_post_apart(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes) {
    if (closed()) return closed_for();
    return route_.post({to, header, payload, bytes});
  }

  /// Sends and completes `handler` with the mailbox's outcome. With `wait_for_room`, the message does not fail if the mailbox
  /// is full, but waits behind others for the same actor. `trace` 0: no trace is requested.
  void post(outgoing m, bool wait_for_room, std::uint64_t trace, answer_handler handler);

  /// Sends a request; `handler` gets the answer. A timeout of zero or less: timed_out, and nothing is sent. Returns the ask's
  /// id; invalid if no ask was opened.
  actor_id ask(outgoing request, std::chrono::nanoseconds timeout, std::uint64_t trace,
               answer_handler handler);
  /// The same, but the calling thread waits for the answer. Fails with would_deadlock on one of the runtime's own threads.
  answer ask_blocking(outgoing request, std::chrono::nanoseconds timeout, std::uint64_t trace);

  /// Accepts a message from an actor of another device. It waits for room, in order with that actor's earlier messages. If
  /// 1024 messages wait for the same actor, it fails with mailbox_full.
  void forward(outgoing m);
  /// The forwarded messages that are not in a mailbox yet, in order for each actor. They stay in their lines while `held`
  /// holds its lock.
  std::vector<outgoing> forwarded(std::unique_lock<std::mutex>& held) const;
  std::size_t count_forwarded() const;

  /// To be called when `actor` has room again or is gone: sends waiting messages; if it is gone, they fail with actor_gone.
  void on_room(actor_id actor);

  /// Whether `close` was called.
  bool closed() const noexcept { return closed_for() != errc::ok; }
  /// The reason of `close`; ok while this is open.
  errc closed_for() const noexcept { return obstacles_.closed_for(); }
  /// Fails every waiting sender and refuses all later messages with `reason`. The first reason stays and is returned. Asks
  /// are not completed here, but by their table.
  errc close(errc reason);

  boost::asio::any_io_executor executor() const { return executor_; }
  /// For `block`.
  friend own_threads const* threads_of(messenger const* m) noexcept { return &m->threads_; }
  /// Whether a post's outcome is final.
  bool is_near() const noexcept { return route_.is_near(); }

 private:
  errc send(mail_view const& mail, actor_id ack = {}) {
    if (obstacles_.any()) [[unlikely]]
      if (auto const outcome = join_line(mail, ack)) return *outcome;
    return route_.post(mail, ack);
  }
  errc send(outgoing const& m, actor_id ack = {}) {
    return send({m.to, m.body.header, m.body.payload, m.body.bytes}, ack);
  }

  /// As mail_lines::join.
  std::optional<errc> join_line(mail_view const& mail, actor_id ack);
  bool takes_next_trace() noexcept;
  /// Sends the request of this open ask, which ends at once if the request is refused. `timeout` counts from `now`.
  void send_request(outgoing& request, actor_id ask, std::chrono::nanoseconds timeout, std::uint64_t now);
  void post_begun(outgoing const& m, bool wait_for_room, answer_handler handler);
  bool begin_trace(outgoing& m, std::uint64_t trace);
  void note_call(outgoing const& m, errc outcome);
  answer_handler noting(outgoing const& m, answer_handler handler);
  void finish(answer_handler handler, errc reason);

  route route_;
  completions& completions_;
  trace_log& traces_;
  own_threads const& threads_;
  bool const samples_;
  boost::asio::any_io_executor executor_;
  std::uint64_t spin_ns_;
  obstacles obstacles_;
  std::unique_ptr<mail_lines> lines_;
};

}  // namespace rondo
