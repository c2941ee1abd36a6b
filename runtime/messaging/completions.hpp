// The table of pending asks. Each is completed exactly once, by whichever comes first: the reply, its deadline,
// its cancellation, or the runtime's end.
//
// A slot is named by an actor_id with host_ask_bit in its index, so that a reply finds it from any device.
// Threads: all functions from any thread. Only completion handlers allocate.
// Ordering: `claim`: opening an ask releases its slot to the one winner of the compare-exchange from waiting to
// completing (acquire); `done`: the winner's release store of the final phase publishes the answer to the waiting
// thread's acquire load; `free`: a slot passes through the stack of free slots with release and acquire. A thread that
// asks again and again keeps its slot: four fewer accesses that each take a cache line for themselves.
#pragma once

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/base/atomic.hpp"
#include "runtime/base/deadline_tree.hpp"
#include "runtime/messaging/answer.hpp"

namespace rondo {

/// Who completes an ask: the function that opened it or a cancellation (inside both, its handler must not
/// run), or any other thread.
enum class completer { initiator, other };

class completions {
  struct table;

 public:
  /// A table for `capacity` asks at once. Handlers without an associated executor run on `executor`.
  completions(std::uint32_t capacity, boost::asio::any_io_executor executor);

  /// Claims a slot for an asynchronous ask. Fails with ask_limit, or with the reason of `close`. `deadline_ns` is on
  /// the device's clock; 0: none. On success the handler is called exactly once, on its executor; on failure it is
  /// untouched.
  result<actor_id> open(answer_handler& handler, std::uint64_t deadline_ns);
  /// A slot that a thread keeps for its next blocking ask. Gives it back at its end, unless the table has ended before.
  /// Is used by one thread.
  class kept_slot {
   public:
    kept_slot() = default;
    kept_slot(kept_slot const&) = delete;
    kept_slot& operator=(kept_slot const&) = delete;
    ~kept_slot();

   private:
    friend completions;
    std::weak_ptr<table> table_;  // in which it counts as kept
    std::uint32_t index_ = 0;     // + 1; 0: in use, or none
  };

  /// Claims a slot for a thread that will wait with `wait`: `mine`, or a free one.
  result<actor_id> open_blocking(std::uint64_t deadline_ns, kept_slot& mine);

  /// Waits for the answer of an ask opened with open_blocking, then keeps the slot as `mine` or frees it. Spins for
  /// `spin_ns` (0: not at all) before it sleeps. Of the answer's header, only the type is known.
  answer wait(actor_id id, std::uint64_t spin_ns, kept_slot& mine);

  /// Completes an ask. False if it was already completed: the answer came too late and is dropped.
  bool complete(actor_id id, errc reason, message const* body, completer caller = completer::other);

  /// Whether the ask is still pending.
  bool is_waiting(actor_id id) const noexcept;

  /// Takes back an ask that the caller opened but did not send, without calling its handler. False if it was already
  /// completed.
  bool withdraw(actor_id id, answer_handler& handler);

  /// Completes every ask whose deadline has passed at `now_ns`. Returns the nearest remaining deadline; 0:
  /// none.
  std::uint64_t expire(std::uint64_t now_ns);
  /// Completes every pending ask with `reason`, and makes every later one fail with it.
  void close(errc reason);

  /// The asks that are pending. Looks at every slot.
  std::uint32_t waiting() const noexcept;
  /// The number of answers that came after their ask was completed.
  std::uint64_t late() const noexcept { return late_.load(memory_order::relaxed); }
  /// Sets a function that is called with each new deadline that is nearer than all others. Set it before the first ask.
  /// It must pass the deadline to the thread that calls `expire` with release and acquire, as any queue does.
  void on_nearer_deadline(std::function<void(std::uint64_t)> f) { on_nearer_ = std::move(f); }

 private:
  enum phase : std::uint32_t { unused, waiting_async, waiting_thread, sleeping_thread, completing, done };

  // The answer follows the word: of a short one, the waiting thread gets all with the line that it polls.
  struct alignas(64) slot {
    atomic<std::uint64_t> word;    // {generation, phase}
    atomic<std::uint32_t> wakeup;  // futex word of a sleeping thread
    errc reason;                   // from here on of the answer
    std::uint32_t type, bytes;
    std::byte payload[max_payload_bytes];
    atomic<std::uint32_t> next;  // in the stack of free slots
    atomic<std::uint64_t> deadline_ns;
    answer_handler handler;
  };
  struct table {
    explicit table(std::uint32_t capacity);
    /// ask_limit if there is none.
    result<std::uint32_t> take_free() noexcept;
    void give_back(std::uint32_t index) noexcept;
    /// Ends the slot's ask: its next one has another generation.
    void end(std::uint32_t index) noexcept;
    /// Whether one more slot may be kept: at most a sixteenth of them.
    bool count_kept() noexcept;

    std::vector<slot> slots;
    alignas(64) atomic<std::uint64_t> free;  // {tag, index + 1}
    atomic<std::uint32_t> kept;
  };

  static constexpr std::uint64_t make(std::uint32_t generation, phase p) noexcept {
    return std::uint64_t{generation} << 32 | p;
  }
  static constexpr bool is_open(std::uint64_t word) noexcept {
    auto const p = static_cast<phase>(word & 0xff);
    return p == waiting_async || p == waiting_thread || p == sleeping_thread;
  }
  actor_id begin(std::uint32_t index, phase p, std::uint64_t deadline_ns);
  void keep_or_give_back(std::uint32_t index, kept_slot& mine);

  std::shared_ptr<table> table_;
  boost::asio::any_io_executor executor_;
  boost::asio::any_completion_executor fallback_;  // executor_, wrapped once for all handlers
  std::function<void(std::uint64_t)> on_nearer_;
  deadline_tree deadlines_;
  alignas(64) atomic<std::uint64_t> late_;
  atomic<std::uint32_t> closed_;  // errc + 1
};

}  // namespace rondo
