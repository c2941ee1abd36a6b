// Sends to the actors of one device: tells, asks whose answer comes back, senders that wait for room, and what actors of
// other devices send to it.
//
// A message takes the device's route at once (runtime/messaging/route.hpp). One that cannot waits in a line
// (runtime/messaging/mail_lines.hpp, which also says what that means for the order of messages).
//
// Threads: all functions from any thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
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
class trace_log;

class messenger {
 public:
  /// Gets each message that was taken and then found no room or no actor, when nobody waits for its outcome; and each
  /// such forwarded message, whose asker it must tell.
  using dead_end = std::function<void(outgoing const&, errc)>;

  /// `asks` and `traces` are those of the whole runtime.
  messenger(route to_device, completions& asks, trace_log& traces, boost::asio::any_io_executor executor,
            std::uint64_t spin_ns, dead_end undelivered);
  ~messenger();

  /// Sends without waiting. On a far route ok means that the message is on its way; if the mailbox then has no room, the
  /// ask that it carries ends with that, or it is a dead letter. While earlier messages of its priority wait for room in the
  /// same mailbox: mailbox_full.
  errc try_post(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes) {
    if (samples_ && takes_next_trace()) [[unlikely]]
      return try_post_traced(to, header, payload, bytes, 0);
    return send({to, header, payload, bytes});
  }
  /// The same for a message that is traced under this number; 0: a new one.
  errc try_post_traced(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes,
                       std::uint64_t trace);
  /// Sends `count` messages `stride` bytes apart, all or none; else as try_post. They are not traced.
  errc try_post_batch(actor_id to, message_header const& header, void const* payloads, std::uint32_t bytes,
                      std::uint32_t stride, std::uint32_t count) {
    return send({to, header, payloads, bytes, stride, count});
  }
  /// The same for a sender of its own, such as a timer: in no order with what others send.
  errc try_post_apart(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes) {
    if (closed()) return closed_for();
    return route_.post({to, header, payload, bytes});
  }

  /// Sends and completes `handler` with the mailbox's outcome. With `wait_for_room` a full mailbox is no
  /// outcome: the message waits its turn behind others that wait for the same actor. `trace` 0: none is asked for.
  void post(outgoing m, bool wait_for_room, std::uint64_t trace, answer_handler handler);

  /// Sends a request; `handler` gets the answer. `timeout_ns` 0: none. Returns the ask's number, or no ask's when it was
  /// refused.
  actor_id ask(outgoing request, std::uint64_t timeout_ns, std::uint64_t trace, answer_handler handler);
  /// The same for a thread that waits here.
  answer ask_blocking(outgoing request, std::uint64_t timeout_ns, std::uint64_t trace);

  /// Takes what an actor of another device has sent: it waits for room, in order with what that actor sent before. More
  /// than 1024 that wait for one actor find no room.
  void forward(outgoing m);
  /// What was forwarded and is not in a mailbox yet, in order for each actor; and stays where it is while `held` does.
  std::vector<outgoing> forwarded(std::unique_lock<std::mutex>& held) const;
  std::size_t count_forwarded() const;

  /// There is room in `actor` again, or it is gone: sends what waits, which in the latter case ends with actor_gone.
  void on_room(actor_id actor);

  /// Whether it was closed.
  bool closed() const noexcept { return closed_for() != errc::ok; }
  /// Why: ok while it is open.
  errc closed_for() const noexcept { return obstacles_.closed_for(); }
  /// Ends every sender that waits, and refuses all that follows, with `reason`; the first reason stays, and is returned.
  /// Asks are their table's to end.
  errc close(errc reason);

  boost::asio::any_io_executor executor() const { return executor_; }
  /// Whether a post's outcome is its message's fate.
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
  void post_begun(outgoing const& m, bool wait_for_room, answer_handler handler);
  bool begin_trace(outgoing& m, std::uint64_t trace);
  void note_call(outgoing const& m, errc outcome);
  answer_handler noting(outgoing const& m, answer_handler handler);
  void finish(answer_handler handler, errc reason);

  route route_;
  completions& completions_;
  trace_log& traces_;
  bool const samples_;
  boost::asio::any_io_executor executor_;
  std::uint64_t spin_ns_;
  obstacles obstacles_;
  std::unique_ptr<mail_lines> lines_;
};

}  // namespace rondo
