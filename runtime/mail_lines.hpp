// Messages to one device that cannot go straight ahead: they wait in a line per actor for room in its mailbox, or for the
// way to the device.
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
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/completions.hpp"
#include "runtime/device.hpp"
#include "runtime/outgoing.hpp"

namespace rondo {

class mail_lines {
 public:
  /// As messenger::dead_end.
  using dead_end = std::function<void(outgoing const&, errc)>;

  /// `attention` is what senders look at before they go straight ahead: the number of noted lines, and above it, in 32 bits,
  /// why the way was closed.
  mail_lines(device& dev, completions& asks, boost::asio::any_io_executor executor,
             atomic<std::uint64_t>& attention, dead_end undelivered)
      : device_(dev),
        near_(dev.shared_arena() != nullptr),
        completions_(asks),
        executor_(std::move(executor)),
        attention_(attention),
        undelivered_(std::move(undelivered)) {}

  /// The message waits for room; `handler` gets its outcome.
  void wait_for_room(outgoing const& m, answer_handler handler);
  /// The way to the device is full, which is no answer to a sender that awaits the mailbox's: `ack` ends with that.
  void wait_for_way(outgoing const& m, actor_id ack);
  /// As messenger::forward, and what follows there.
  void forward(outgoing m);
  std::vector<outgoing> forwarded(std::unique_lock<std::mutex>& held) const;
  std::size_t count_forwarded() const;

  /// What becomes of a message whose sender does not wait, while something is unusual; none: it goes straight ahead.
  std::optional<errc> detour(actor_id to, message_header const& header, void const* payload,
                             std::uint32_t bytes, std::uint32_t stride, std::uint32_t count, actor_id ack);

  void on_room(actor_id actor);
  errc close(errc reason);

 private:
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

  bool closed() const noexcept { return attention_.load(memory_order::acquire) >> 32 != 0; }
  errc closed_for() const noexcept { return static_cast<errc>(attention_.load(memory_order::acquire) >> 32); }
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
  bool const near_;  // its actors' mailboxes lie in this process's memory
  completions& completions_;
  boost::asio::any_io_executor executor_;
  atomic<std::uint64_t>& attention_;
  dead_end undelivered_;
  std::array<atomic<std::uint32_t>, 64> noted_{};  // lines, by the last bits of their actor's index
  mutable std::mutex mutex_;
  lines lines_;  // guarded by mutex_
};

}  // namespace rondo
