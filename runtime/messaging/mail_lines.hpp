// Lines of messages that cannot take their device's route at once. Each actor has a line, in which messages wait for
// room in its mailbox or on the route, and another one for the messages that may take its reserved room.
//
// Order (G2): an actor's line is first come, first served, and a message does not overtake one of its own priority
// there. On a far route the outcome of a message is unknown when it is sent. A message whose sender awaits room is
// therefore sent alone, and the next one follows when its verdict is known.
//
// A message that was accepted and whose sender has left is an *orphan*: it stays in the line until its mailbox takes
// it. On a far route these are the messages that found no room and came back, and all of their epoch with them (L5 of
// kernels/link/queue_pair.hpp). Orphans are sent in runs. If one of a run finds no room, it and those after it come
// back. Only the last one of a run gets a verdict, which follows all that come back: then it is known how many were
// taken.
//
// A checkpoint *holds* the lines of far routes before it asks for a safepoint. Nothing leaves a line from then on, so
// at the safepoint the device has told the outcome of everything that has: each message is in a line or in a mailbox,
// and not in both. What a sender puts into a line meanwhile is not in the image, because an earlier message of the same
// sender may be in the submission ring, which is not either.
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
#include <set>
#include <unordered_map>
#include <utility>
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

  /// Senders check `obs` before they send. `mailboxes`: of the device.
  mail_lines(route to_device, std::uint32_t mailboxes, completions& asks,
             boost::asio::any_io_executor executor, obstacles& obs, dead_end undelivered)
      : route_(to_device),
        completions_(asks),
        executor_(std::move(executor)),
        obstacles_(obs),
        undelivered_(std::move(undelivered)),
        mailboxes_(mailboxes) {
    for (auto& m : mailboxes_) {  // relaxed, all: not shared yet
      for (bool const reserved : {false, true})
        m.epochs[reserved].store(mail_epoch::first(reserved).bits, memory_order::relaxed);
      m.reserved_from.store(no_priority, memory_order::relaxed);
    }
  }

  /// An actor is about to be launched. The caller then publishes its id.
  void note_launch(actor_id actor, reserved_room reserve) noexcept {
    mailboxes_[cell_of(actor)].reserved_from.store(reserve.slots != 0 ? reserve.from : no_priority,
                                                   memory_order::relaxed);
  }
  /// For a message to this actor on a far route, with the mailbox's epoch. A sender takes it before it checks for
  /// lines: whoever sees a new epoch sees the line of the messages that have come back, too.
  far_terms terms_for(actor_id to, std::uint8_t priority, actor_id ack) const noexcept {
    auto const cell = cell_of(to);
    if (cell >= mailboxes_.size()) return {.ack = ack};
    auto const& now = mailboxes_[cell].epochs[is_for_reserved(to, priority)];
    return {ack, post_order::in_epoch, {static_cast<std::uint16_t>(now.load(memory_order::acquire))}, &now};
  }
  /// The messages wait for room, all or none. `handler` gets their outcome: timed_out at their deadline, and
  /// `cancelled` through its cancellation slot, unless they are already in transit.
  void wait_for_room(mail_view const& mail, answer_handler handler);
  /// The request of an open ask waits for room, unless the ask is over by then.
  void wait_for_room(mail_view const& request);
  /// The messages wait for room on a far route, all or none. The verdict completes `ack`; if that is invalid, they are
  /// one request.
  void wait_for_route(mail_view const& mail, actor_id ack);
  /// As the messenger's functions with these names.
  void forward(outgoing m);
  void put_back(outgoing const& m);
  void take_back(outgoing m, returned_mail about);
  void hold();
  void release();
  std::vector<outgoing> orphans(std::unique_lock<std::mutex>& held);
  std::size_t count_orphans() const;

  /// For a message whose sender does not wait: ok if it has joined its actor's line, an error if it is refused, nullopt
  /// if no line is in its way.
  std::optional<errc> join(mail_view const& mail, actor_id ack);

  void on_room(actor_id actor);
  errc close(errc reason);

 private:
  /// A message in a line.
  struct waiting {
    outgoing m;
    bool awaits_room = false;  // it waits for some
    bool orphan = false;       // has no sender that hears of it; awaits room
    bool returned = false;     // has come back without having been in a line; an orphan
    bool in_transit = false;   // on a far route
    bool late = false;         // has joined a line that is held; an orphan
    // One of these gets the outcome, unless it is an orphan: a handler, an ask, or the ask that the message itself
    // belongs to.
    answer_handler handler{};
    actor_id ack{};
    std::uint64_t number = 0;           // by which its place is found; 0: nobody looks for it
    std::uint64_t deadline_ns = ~0ull;  // of one with a handler, on the device's clock
    std::uint32_t count = 1;            // of a batch
    std::vector<std::byte> batch{};     // its payloads
    errc outcome = errc::ok;

    /// False while more of a batch are to come back.
    bool is_whole() const noexcept {
      return count == 1 || batch.size() == std::uint64_t{count} * m.body.bytes;
    }
    void const* payloads() const noexcept {
      return count == 1 ? static_cast<void const*>(m.body.payload) : batch.data();
    }
  };
  using messages = std::list<waiting>;  // a list, because its elements never move; see completions.cpp

  /// Whose line it is.
  struct line_key {
    actor_id to;
    bool reserved;  // for the messages that may take the reserved room
    friend constexpr auto operator<=>(line_key const&, line_key const&) = default;
  };

  /// The messages that wait for one actor. Some may be in transit on a far route: a run of orphans, or one whose
  /// sender waits. Those that have come back come first: their senders have sent them before all that they have put
  /// into the line.
  struct line {
    messages waiting_messages;
    std::map<std::uint8_t, std::uint32_t> by_priority{};  // how many of them there are
    std::uint32_t unable_to_wait = 0;                     // those that do not await room
    std::size_t purge_at =
        64;  // messages; then those whose ask is over leave: nobody tells the line of its end
    bool is_obstacle = false;     // for senders that do not wait
    bool full = false;            // the mailbox had no room for the first message
    bool awaits_verdict = false;  // of the run, or of the one message
    // Nothing sent in an earlier epoch can come back any more: so a verdict of this one says. Otherwise only what has
    // come back is sent, since what its sender has put into the line may have to wait for more.
    bool settled = true;
    std::uint32_t run = 0;                              // orphans in transit
    std::optional<messages::iterator> last_returned{};  // of the waiting ones
    messages returned{};  // those of the run that have come back; they wait again when its verdict is known
    mail_epoch epoch{};   // of what is in transit
    std::uint32_t longest_run = 32;
    std::chrono::microseconds pause{20};  // until the next try
    std::unique_ptr<boost::asio::steady_timer> timer{};

    /// A message has come into the line.
    void count(waiting const& w) {
      ++by_priority[w.m.body.header.priority];
      unable_to_wait += !w.awaits_room;
    }
    /// It has become another message.
    void uncount(waiting const& w) {
      auto const of = by_priority.find(w.m.body.header.priority);
      if (--of->second == 0) by_priority.erase(of);
      unable_to_wait -= !w.awaits_room;
    }
    /// It leaves.
    void let_go(messages::iterator w) {
      uncount(*w);
      if (last_returned != w) return;
      last_returned.reset();
      if (w != waiting_messages.begin()) last_returned = std::prev(w);
    }
  };
  using lines = std::map<line_key, line>;
  struct place {
    lines::iterator line;
    messages::iterator message;
  };
  /// What is known of a mailbox without a lock.
  struct mailbox {
    atomic<std::uint32_t> epochs[2];  // of a far route: mail_epoch::bits, by whether it is for reserved room
    atomic<std::uint32_t> reserved_from;  // the priority from which messages may take the reserved room
  };

  // The maximum length of a line for messages that were forwarded or whose senders do not wait.
  static constexpr std::size_t line_limit = 1024;
  static constexpr std::uint32_t run_limit = 256;
  static constexpr std::uint32_t no_priority = 256;

  bool is_for_reserved(actor_id to, std::uint8_t priority) const noexcept {
    auto const cell = cell_of(to);
    // Relaxed: the caller's id came after it. A stale id's message ends with actor_gone in either line.
    return cell < mailboxes_.size() && priority >= mailboxes_[cell].reserved_from.load(memory_order::relaxed);
  }
  mail_epoch epoch_of(line_key key) const noexcept {  // relaxed: the caller holds mutex_
    return {static_cast<std::uint16_t>(
        mailboxes_[cell_of(key.to)].epochs[key.reserved].load(memory_order::relaxed))};
  }
  line_key key_of(actor_id to, std::uint8_t priority) const noexcept {
    return {to, is_for_reserved(to, priority)};
  }
  line_key key_of(outgoing const& m) const noexcept { return key_of(m.to, m.body.header.priority); }
  line_key key_of(mail_view const& m) const noexcept { return key_of(m.to, m.header.priority); }
  bool closed() const noexcept { return closed_for() != errc::ok; }
  errc closed_for() const noexcept { return obstacles_.closed_for(); }
  void enqueue(waiting w, messages& ended);
  static waiting entry_of(mail_view const& mail);
  bool is_over(waiting const& w) const noexcept;
  void purge(line& l, messages& ended);
  void push(line& l, waiting w);
  void leave(line& l, messages::iterator w, errc outcome, messages& ended);
  void cancel(std::uint64_t number);
  void expect(std::uint64_t deadline_ns);
  void expire();
  void close_up(lines::iterator at);
  static void add_returned(line& l, messages& to, outgoing const& m, std::uint32_t count);
  static std::vector<messages::iterator> run_of(line& l);
  static void end_run(line& l);
  errc send(waiting const& w, far_terms const& terms) const;
  errc send_for_verdict(line_key key, line& l, waiting& w, far_terms terms);
  errc send_run(line_key key, line& l);
  errc send_first(line_key key, line& l);
  void advance(lines::iterator at, messages& ended);
  void resume(line_key key);
  void on_verdict(line_key key, errc verdict);
  void fail_unable_to_wait(line& l, messages& ended);
  void try_later(line_key key, line& l);
  void make_obstacle(lines::iterator at);
  void end(messages& ended);
  void finish(answer_handler handler, errc reason);

  route route_;
  completions& completions_;
  boost::asio::any_io_executor executor_;
  obstacles& obstacles_;
  dead_end undelivered_;
  mutable std::mutex mutex_;  // guards the members below, but for what mailbox says
  lines lines_;
  std::uint64_t last_number_ = 0;
  std::unordered_map<std::uint64_t, place> numbered_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> deadlines_;  // with the numbers
  std::uint64_t nearest_deadline_ns_ = ~0ull;                    // that the timer awaits
  boost::asio::steady_timer deadline_timer_{executor_};
  std::vector<mailbox> mailboxes_;
  bool held_ = false;  // the lines of a far route are
};

}  // namespace rondo
