// The host's side of the message path to one device: posts to its actors, asks that come back, senders that wait for
// room, and what actors of other devices send to it.
//
// Order (G2): what waits for an actor stands in that actor's line, first come first served, and a message does not
// pass one of its own priority there. On a device with a memory of its own the fate of a message that is on its way
// is not known yet; one that waits for room therefore goes alone, and what follows it waits for its fate.
//
// Threads: all functions from any thread.
#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>

#include "kernels/scheduler.hpp"
#include "runtime/completions.hpp"
#include "runtime/device.hpp"
#include "runtime/guest.hpp"
#include "runtime/trace_log.hpp"

namespace rondo {

/// One message on its way, not yet accepted.
struct outgoing {
  actor_id to;
  message body;
};

class messenger {
 public:
  /// Gets each message that was taken and then found no room or no actor, when nobody waits for its outcome; and each
  /// forwarded one, with the duty to tell its asker.
  using dead_end = std::function<void(outgoing const&, errc)>;

  /// `asks` and `traces` are those of the whole runtime.
  messenger(device& dev, completions& asks, trace_log& traces, boost::asio::any_io_executor executor,
            std::uint64_t spin_ns, dead_end undelivered)
      : device_(dev),
        arena_(dev.shared_arena()),
        completions_(asks),
        traces_(traces),
        samples_(traces.samples()),
        executor_(std::move(executor)),
        spin_ns_(spin_ns),
        undelivered_(std::move(undelivered)) {}

  /// Sends without waiting. On a device that shares no memory, ok means that its way took the message; if the
  /// mailbox then has no room, `ack` ends with that, or the ask that the message carries, or it is a dead letter.
  /// While earlier messages of its priority wait for room in the same mailbox: mailbox_full.
  errc try_post(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes) {
    if (samples_ && traces_.takes_next()) [[unlikely]]
      return try_post_traced(to, header, payload, bytes, 0);
    return send_now(to, header, payload, bytes, {});
  }
  /// The same for a message that is traced under this number; 0: a new one.
  errc try_post_traced(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes,
                       std::uint64_t trace);
  /// Sends `count` messages `stride` bytes apart, all or none; else as try_post. They are not traced.
  errc try_post_batch(actor_id to, message_header const& header, void const* payloads, std::uint32_t bytes,
                      std::uint32_t stride, std::uint32_t count) {
    if (attention_.load(memory_order::relaxed) != 0) [[unlikely]]  // relaxed: as in send_now
      if (auto const outcome = detour(to, header, payloads, bytes, stride, count, {})) return *outcome;
    auto const* const first = static_cast<std::byte const*>(payloads);
    if (arena_ != nullptr) return sender().post_batch(to, header, first, bytes, stride, count);
    return device_.post(to, header, first, bytes, stride, count, {}, false);
  }
  /// The same for a sender of its own, such as a timer: in no order with what others send.
  errc try_post_apart(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes) {
    if (closed()) return closed_for();
    return device_.post(to, header, static_cast<std::byte const*>(payload), bytes, bytes, 1, {}, false);
  }

  /// Sends and completes `handler` with the mailbox's outcome. With `wait_for_room` a full mailbox is no
  /// outcome: the message waits its turn behind others that wait for the same actor. `trace` 0: none is asked for.
  void post(outgoing m, bool wait_for_room, std::uint64_t trace, answer_handler handler);

  /// Sends a request; `handler` gets the answer. `timeout_ns` 0: none.
  void ask(outgoing request, std::uint64_t timeout_ns, std::uint64_t trace, answer_handler handler);
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
  bool closed() const noexcept { return attention_.load(memory_order::acquire) >> 32 != 0; }
  /// Why: ok while it is open.
  errc closed_for() const noexcept { return static_cast<errc>(attention_.load(memory_order::acquire) >> 32); }
  /// Ends every sender that waits, and refuses all that follows, with `reason`; the first reason stays, and is returned.
  /// Asks are their table's to end.
  errc close(errc reason);

  boost::asio::any_io_executor executor() const { return executor_; }
  /// Whether a post's outcome is its message's fate: senders write into the mailboxes themselves.
  bool shares_memory() const noexcept { return arena_ != nullptr; }

 private:
  scheduler sender() const noexcept {
    scheduler s{*arena_};
    s.quiet = posts_are_quiet;
    return s;
  }

  /// A message in a line.
  struct waiting {
    outgoing m;
    bool patient = false;      // waits for room
    bool forwarded = false;    // by another device; patient
    answer_handler handler{};  // of any other patient one
    actor_id ack{};            // of one that is not, and is no ask: who hears of its fate; may be invalid
    std::uint32_t count = 1;   // of a batch
    std::vector<std::byte> batch{};  // its payloads
    errc outcome = errc::ok;
  };
  using messages = std::list<waiting>;  // a list, for elements that never move: see completions.cpp

  /// What waits for one actor. The first one is tried; where the device shares no memory, it may be on its way.
  struct line {
    messages waiting_messages;
    bool noted = false;                   // senders that do not wait know of it
    bool full = false;                    // the mailbox had no room for the first one
    std::chrono::microseconds pause{20};  // until the next try
    std::unique_ptr<boost::asio::steady_timer> timer{};
  };
  using lines = std::map<std::uint64_t, line>;  // by actor

  static constexpr std::size_t line_limit =
      1024;  // messages of senders that do not wait, or that were forwarded

  errc send_now(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes,
                actor_id ack) {
    // Relaxed: a sender sees what it has caused itself, and others are in no order with it.
    if (attention_.load(memory_order::relaxed) != 0) [[unlikely]]
      if (auto const outcome = detour(to, header, payload, bytes, bytes, 1, ack)) return *outcome;
    if (arena_ != nullptr) return sender().post(to, header, payload, bytes);
    return device_.post(to, header, static_cast<std::byte const*>(payload), bytes, bytes, 1, ack, false);
  }
  errc send_now(outgoing const& m, actor_id ack) {
    return send_now(m.to, m.body.header, m.body.payload, m.body.bytes, ack);
  }

  void post_begun(outgoing const& m, bool wait_for_room, answer_handler handler);
  bool begin_trace(outgoing& m, std::uint64_t trace);
  void note_call(outgoing const& m, errc outcome);
  answer_handler noting(outgoing const& m, answer_handler handler);

  std::optional<errc> detour(actor_id to, message_header const& header, void const* payload,
                             std::uint32_t bytes, std::uint32_t stride, std::uint32_t count, actor_id ack);
  void queue_busy(outgoing const& m, actor_id ack);
  void stand_in_line(waiting w, messages& ended);
  errc post_first(std::uint64_t key, waiting const& first);
  void advance(lines::iterator at, messages& ended);
  void resume(std::uint64_t key);
  void on_verdict(std::uint64_t key, errc verdict);
  void try_later(std::uint64_t key, line& l);
  void note(lines::iterator at);
  void end(messages& ended);
  void finish(answer_handler handler, errc reason);

  device& device_;
  arena_ref const* arena_;
  completions& completions_;
  trace_log& traces_;
  bool const samples_;
  boost::asio::any_io_executor executor_;
  std::uint64_t spin_ns_;
  dead_end undelivered_;
  /// The number of noted lines, and above it, in 32 bits, why it was closed. Zero: messages go straight ahead.
  atomic<std::uint64_t> attention_{0};
  std::array<atomic<std::uint32_t>, 64> noted_{};  // lines, by the last bits of their actor's index
  mutable std::mutex mutex_;
  lines lines_;  // guarded by mutex_
};

}  // namespace rondo
