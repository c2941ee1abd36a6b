// The messenger of one device sends to its actors: tells, asks, messages that wait for room, and messages from actors
// of other devices.
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

class actor_control;  // runtime/core/actor_control.hpp
class completions;
class mail_lines;
class own_threads;
class trace_log;

class messenger {
 public:
  /// Gets each accepted message that then found no room or no actor, if no sender waits for its outcome; and each such
  /// forwarded message, whose asker it must notify.
  using dead_end = std::function<void(outgoing const&, errc)>;

  /// `mailboxes`: the number of the device's. `asks`, `traces`, `threads`, which complete the asks, and `control` are
  /// shared by the whole runtime.
  messenger(route to_device, std::uint32_t mailboxes, completions& asks, trace_log& traces,
            own_threads const& threads, boost::asio::any_io_executor executor, std::uint64_t spin_ns,
            dead_end undelivered, actor_control& control);
  ~messenger();

  /// Sends without waiting. On a far route, ok means that the message is in transit; if the mailbox then has no room,
  /// its ask completes with mailbox_full, or it waits for room in the actor's line. Fails with mailbox_full while
  /// earlier messages of its priority wait for room in the same mailbox.
  errc try_post(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes) {
    if (header.deadline == message_header::refused_deadline) [[unlikely]]
      return refusal_of(header);
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
    if (header.deadline == message_header::refused_deadline) return refusal_of(header);
    return send({to, header, payloads, bytes, stride, count});
  }
  /// Sends for an independent sender, such as a timer: not ordered with the messages of other senders.
  errc try_post_apart(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes) {
    if (closed()) return closed_for();
    if (header.deadline == message_header::refused_deadline) return refusal_of(header);
    return route_.post({to, header, payload, bytes});
  }

  /// Sends and completes `handler` with the mailbox's outcome. With `wait_for_room`, the message does not fail if the
  /// mailbox is full, but waits behind others for the same actor. `trace` 0: no trace is requested.
  void post(outgoing m, bool wait_for_room, std::uint64_t trace, answer_handler handler);
  /// The same for a batch, all or none. It is not traced.
  void post_batch(mail_view const& batch, bool wait_for_room, answer_handler handler);

  struct ask_terms {
    std::chrono::nanoseconds timeout;  // zero or less: timed_out, and nothing is sent
    bool wait_for_room;                // until the timeout, behind others for the same actor
    std::uint64_t trace;               // as for post
  };
  /// Sends a request; `handler` gets the answer. Returns the ask's id; invalid if no ask was opened.
  actor_id ask(outgoing request, ask_terms terms, answer_handler handler);
  /// The same, but the calling thread waits for the answer. Fails with would_deadlock on one of the runtime's own
  /// threads.
  answer ask_blocking(outgoing request, ask_terms terms);

  /// Accepts a message from an actor of another device. It waits for room, in order with that actor's earlier messages.
  /// If 1024 messages wait for the same actor, it fails with mailbox_full.
  void forward(outgoing m);
  /// The same for what a checkpoint has of `orphans`: without a limit, because it was accepted.
  void put_back(outgoing const& m);
  /// A far device has returned this message: it waits in its actor's line, and is sent again.
  void take_back(outgoing m, returned_mail about);
  /// For a checkpoint: from `hold` to `release` no message leaves its line for a far route. Senders are not held up
  /// otherwise.
  void hold();
  void release();
  /// The accepted messages that are not in a mailbox yet and have no waiting sender, in order for each actor, without
  /// those that have joined a line since `hold`. They stay in their lines while `held` holds its lock. Precondition:
  /// `hold`, then a safepoint.
  std::vector<outgoing> orphans(std::unique_lock<std::mutex>& held);
  std::size_t count_orphans() const;

  /// To be called before an actor is launched.
  void note_launch(actor_id actor, reserved_room reserve) noexcept;
  /// To be called when `actor` has room again or is gone: sends waiting messages; if it is gone, they fail with
  /// actor_gone.
  void on_room(actor_id actor);

  /// Whether `close` was called.
  bool closed() const noexcept { return closed_for() != errc::ok; }
  /// The reason of `close`; ok while this is open.
  errc closed_for() const noexcept { return obstacles_.closed_for(); }
  /// Fails every waiting sender and refuses all later messages with `reason`. The first reason stays and is returned.
  /// Asks are not completed here, but by their table.
  errc close(errc reason);

  boost::asio::any_io_executor executor() const { return executor_; }
  /// For `block`.
  friend own_threads const* threads_of(messenger const* m) noexcept { return &m->threads_; }
  /// What starts lifecycle operations on these actors.
  actor_control& control() const noexcept { return control_; }
  /// Where messages wait.
  obstacles const& waiting() const noexcept { return obstacles_; }
  /// Whether a post's outcome is final.
  bool is_near() const noexcept { return route_.is_near(); }

 private:
  errc send(mail_view const& mail, actor_id ack = {}) {
    auto const terms = route_.is_near() ? far_terms{} : terms_for(mail, ack);  // first: see mail_lines
    if (obstacles_.any()) [[unlikely]]
      if (auto const outcome = join_line(mail, ack)) return *outcome;
    return route_.post(mail, terms);
  }
  errc send(outgoing const& m, actor_id ack = {}) { return send(view_of(m), ack); }
  /// Why a message with refused_deadline is not sent: its deadline is too far, or, if it is not stamped, has passed.
  static errc refusal_of(message_header const& h) noexcept {
    return h.stamped() ? errc::deadline_too_long : errc::timed_out;
  }

  /// As mail_lines::join and terms_for.
  std::optional<errc> join_line(mail_view const& mail, actor_id ack);
  far_terms terms_for(mail_view const& mail, actor_id ack) const noexcept;
  bool takes_next_trace() noexcept;
  /// Sends the request of this open ask, which ends at once if the request is refused. `timeout` counts from `now`.
  void send_request(outgoing& request, actor_id ask, ask_terms const& terms, std::uint64_t now);
  static mail_view view_of(outgoing const& m) noexcept {
    return {m.to, m.body.header, m.body.payload, m.body.bytes};
  }
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
  actor_control& control_;
};

}  // namespace rondo
