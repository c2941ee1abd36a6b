// The host's side of the message path: posts to actors, asks that come back, and senders that wait for room.
//
// Threads: all functions from any thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <deque>
#include <map>
#include <mutex>

#include "kernels/scheduler.hpp"
#include "runtime/completions.hpp"
#include "runtime/device.hpp"

namespace rondo {

/// One message on its way, not yet accepted.
struct outgoing {
  actor_id to;
  message body;
};

class messenger {
 public:
  messenger(device& dev, std::uint32_t asks, boost::asio::any_io_executor executor, std::uint64_t spin_ns)
      : device_(dev),
        arena_(dev.shared_arena()),
        completions_(asks, executor),
        executor_(std::move(executor)),
        spin_ns_(spin_ns) {}

  /// Sends without waiting. On a device that shares no memory, ok means that its way took the message; if the
  /// mailbox then has no room, the message ends as a dead letter.
  errc try_post(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes) {
    if (stopped_.load(memory_order::relaxed) != 0)
      return errc::stopped;  // relaxed: best effort; the arena stays
    if (arena_ != nullptr) return scheduler{*arena_}.post(to, header, payload, bytes);
    return device_.post(to, header, static_cast<std::byte const*>(payload), bytes, bytes, 1, {}, false);
  }
  /// Sends `count` messages `stride` bytes apart, all or none.
  errc try_post_batch(actor_id to, message_header const& header, void const* payloads, std::uint32_t bytes,
                      std::uint32_t stride, std::uint32_t count) {
    if (stopped_.load(memory_order::relaxed) != 0) return errc::stopped;
    auto const* const first = static_cast<std::byte const*>(payloads);
    if (arena_ != nullptr) return scheduler{*arena_}.post_batch(to, header, first, bytes, stride, count);
    return device_.post(to, header, first, bytes, stride, count, {}, false);
  }

  /// Sends and completes `handler` with the mailbox's outcome. With `wait_for_room` a full mailbox is no
  /// outcome: the message waits its turn behind others that wait for the same actor.
  void post(outgoing m, bool wait_for_room, answer_handler handler);

  /// Sends a request; `handler` gets the answer. `timeout_ns` 0: none.
  void ask(outgoing request, std::uint64_t timeout_ns, answer_handler handler);
  /// The same for a thread that waits here.
  answer ask_blocking(outgoing request, std::uint64_t timeout_ns);

  /// There is room in `actor` again, or it is gone: sends what waits.
  void on_room(actor_id actor);
  /// Completes what waits for `actor` with actor_gone.
  void on_gone(actor_id actor);

  /// Whether it was closed.
  bool closed() const noexcept { return stopped_.load(memory_order::acquire) != 0; }
  /// Ends every pending ask and every sender that waits, and refuses all that follows.
  void close(errc reason);

  completions& asks() noexcept { return completions_; }
  boost::asio::any_io_executor executor() const { return executor_; }

 private:
  struct waiting_sender {
    outgoing m;
    answer_handler handler;
  };

  errc post_one(outgoing const& m, actor_id ack, bool want_room);
  void post_patiently(outgoing m, bool wait_for_room, answer_handler handler);
  void finish(answer_handler handler, errc reason);
  /// Sends what waits for `actor` until it is full again. The caller holds rooms_mutex_.
  void drain(actor_id actor, std::vector<std::pair<answer_handler, errc>>& finished);

  device& device_;
  arena_ref const* arena_;
  completions completions_;
  boost::asio::any_io_executor executor_;
  std::uint64_t spin_ns_;
  atomic<std::uint32_t> stopped_{0};
  std::mutex rooms_mutex_;
  std::map<std::uint64_t, std::deque<waiting_sender>> rooms_;  // by actor
};

}  // namespace rondo
