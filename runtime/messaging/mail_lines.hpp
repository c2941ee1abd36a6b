// Lines of messages that cannot take their device's route at once. Each actor has a line, in which messages wait for room in
// its mailbox or on the route.
//
// Order (G2): an actor's line is first come, first served, and a message does not overtake one of its own priority there. On
// a far route the outcome of a message is unknown when it is sent. A message that waits for room is therefore sent alone, and
// the next one follows when its verdict is known.
//
// Threads: all functions from any thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/base/outgoing.hpp"
#include "runtime/messaging/completions.hpp"
#include "runtime/messaging/obstacles.hpp"
#include "runtime/messaging/route.hpp"

namespace rondo {

class mail_lines {
 public:
  /// As messenger::dead_end.
  using dead_end = std::function<void(outgoing const&, errc)>;

  /// Senders check `obs` before they send.
  mail_lines(route to_device, completions& asks, boost::asio::any_io_executor executor, obstacles& obs,
             dead_end undelivered)
      : route_(to_device),
        completions_(asks),
        executor_(std::move(executor)),
        obstacles_(obs),
        undelivered_(std::move(undelivered)) {}

  /// The message waits for room; `handler` gets its outcome.
  void wait_for_room(outgoing const& m, answer_handler handler);
  /// The message waits for room on a far route; the mailbox's verdict completes `ack`.
  void wait_for_route(outgoing const& m, actor_id ack);
  /// As the messenger's functions with these names.
  void forward(outgoing m);
  std::vector<outgoing> forwarded(std::unique_lock<std::mutex>& held) const;
  std::size_t count_forwarded() const;

  /// For a message whose sender does not wait: ok if it has joined its actor's line, an error if it is refused, nullopt if
  /// no line is in its way.
  std::optional<errc> join(mail_view const& mail, actor_id ack);

  void on_room(actor_id actor);
  errc close(errc reason);

 private:
  /// A message in a line.
  struct waiting {
    outgoing m;
    bool patient = false;            // waits for room
    bool forwarded = false;          // by another device; patient
    answer_handler handler{};        // if patient and not forwarded
    actor_id ack{};                  // if not patient: the ask that its outcome completes; may be invalid
    std::uint32_t count = 1;         // of a batch
    std::vector<std::byte> batch{};  // its payloads
    errc outcome = errc::ok;
  };
  using messages = std::list<waiting>;  // a list, because its elements never move; see completions.cpp

  /// The messages that wait for one actor. The first is being tried; on a far route it may be in transit.
  struct line {
    messages waiting_messages;
    bool is_obstacle = false;             // for senders that do not wait
    bool full = false;                    // the mailbox had no room for the first message
    std::chrono::microseconds pause{20};  // until the next try
    std::unique_ptr<boost::asio::steady_timer> timer{};
  };
  using lines = std::map<std::uint64_t, line>;  // by actor

  // The maximum length of a line for messages that were forwarded or whose senders do not wait.
  static constexpr std::size_t line_limit = 1024;

  bool closed() const noexcept { return closed_for() != errc::ok; }
  errc closed_for() const noexcept { return obstacles_.closed_for(); }
  void stand_in_line(waiting w, messages& ended);
  errc post_first(std::uint64_t key, waiting const& first);
  void advance(lines::iterator at, messages& ended);
  void resume(std::uint64_t key);
  void on_verdict(std::uint64_t key, errc verdict);
  void try_later(std::uint64_t key, line& l);
  void make_obstacle(lines::iterator at);
  void end(messages& ended);
  void finish(answer_handler handler, errc reason);

  route route_;
  completions& completions_;
  boost::asio::any_io_executor executor_;
  obstacles& obstacles_;
  dead_end undelivered_;
  mutable std::mutex mutex_;
  lines lines_;  // guarded by mutex_
};

}  // namespace rondo
