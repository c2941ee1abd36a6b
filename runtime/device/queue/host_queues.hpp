// The host's end of a queue pair: it writes submissions to the ring of their reader, and its own thread drains
// completions (completion_poller.hpp).
//
// Ownership: does not own the rings; owns the thread `rondo-poller` from start to stop.
// Threads: submit, launch, and signal from any; start and stop one at a time. Posts never block: if the ring is full,
// they fail with errc::device_busy. launch and signal wait for room (with a time limit), except on the poller's thread,
// which might wait for its own work.
#pragma once

#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "kernels/link/queue_pair.hpp"
#include "runtime/device/queue/completion_poller.hpp"
#include "runtime/device/queue/team_owners.hpp"
#include "runtime/messaging/route.hpp"
#include "runtime/os/own_threads.hpp"
#include "runtime/os/prepare_thread.hpp"
#include "runtime/os/start_thread.hpp"

namespace rondo {

template <class Bus = prompt_bus>
class host_queues final : public far_mail {
 public:
  /// `nap_ns`: 0 if the device's teams ring for the poller (completion_poller::bell). Otherwise the poller sleeps no
  /// longer than that, and each submission wakes it, because it may get an answer.
  /// `owners`: of the pinned teams, in the order of their direct rings.
  host_queues(queue_pair_ref<Bus> queues, team_owners const& owners, idle_policy idle,
              std::uint64_t nap_ns = 0)
      : queues_(queues),
        owners_(owners),
        idle_(idle),
        wakes_poller_(nap_ns != 0),
        poller_(queues.up, idle, nap_ns != 0 ? nap_ns : 1'000'000'000),
        awaited_(queues.direct_rings) {}

  queue_pair_ref<Bus> const& queues() const noexcept { return queues_; }
  /// Wakes the I/O team, if that is a sleeping thread.
  doorbell& io_bell() noexcept { return io_bell_; }
  completion_poller<Bus>& poller() noexcept { return poller_; }

  queue_counts counts() const noexcept {
    queue_counts all{0, 0, queues_.up.count_consumed(), queues_.down.slot_count, queues_.up.slot_count};
    for_each_ring([&](auto const& ring) {
      all.taken += ring.count_consumed();  // first: never more than were submitted
      all.submitted += ring.tail();
    });
    return all;
  }
  /// Whether a ring holds a submission. A hint.
  bool has_submissions() const noexcept {
    bool any = false;
    for_each_ring([&](auto const& ring) { any = any || ring.tail() != ring.count_consumed(); });
    return any;
  }
  /// Calls f(ring) for each ring of submissions, the direct ones first.
  template <class F>
  void for_each_ring(F f) const {
    for (std::uint32_t n = 0; n < queues_.direct_rings; ++n) f(queues_.direct[n].ring);
    f(queues_.down);
  }

  /// Fails with batch_too_large for one larger than the ring.
  errc submit(mail_view const& mail, far_terms const& terms) override {
    if (mail.count == 0) return errc::ok;
    if (mail.bytes > max_payload_bytes) return errc::payload_too_large;
    if (mail.count > largest_batch()) return errc::batch_too_large;
    auto const* const payloads = static_cast<std::byte const*>(mail.payloads);
    std::optional<bool> late;  // known when there is a ticket
    auto const outcome = push(mail.to, mail.header.priority, mail.count, [&](std::uint32_t i, submission& s) {
      if (!late) late = terms.are_late();
      s.kind = *late ? submission_kind::nothing : submission_kind::post;
      s.how = terms.how;
      s.epoch = terms.epoch;
      s.count = mail.count - i;
      s.to = mail.to;
      s.ack = *late ? actor_id{} : terms.ack;
      s.body.header = mail.header;
      s.body.bytes = mail.bytes;
      __builtin_memcpy(s.body.payload, payloads + std::uint64_t{i} * mail.stride, mail.bytes);
    });
    return outcome == errc::ok && *late ? errc::mailbox_full : outcome;
  }

  std::uint32_t largest_batch() const noexcept override { return queues_.down.slot_count; }

  errc launch(launch_spec const& spec, launch_arguments const& with = {}) {
    if (with.count != 0)
      if (auto const refused = patiently([&] { return order_with(submission_kind::arguments, with); });
          refused != errc::ok)
        return refused;
    return patiently([&] { return order_with(submission_kind::launch, spec); });
  }
  /// Like a post, never waits for room.
  errc order(submission_kind kind, buffer_order const& o) { return order_with(kind, o); }
  errc signal(actor_id to, std::uint32_t control) {
    return patiently([&] {
      return push(to, default_priority, 1, [&](std::uint32_t, submission& s) {
        s.kind = submission_kind::signal;
        s.how = post_order::apart;
        s.epoch = {};
        s.count = control;
        s.to = to;
        s.ack = {};
        s.body.bytes = 0;
      });
    });
  }

  /// Refuses all later submissions with `reason`. The first reason stays.
  void close(errc reason) noexcept {
    auto none = static_cast<std::uint32_t>(errc::ok);
    // Relaxed here and in closed_for: only the reason, and push handles the case that it is not visible yet.
    closed_for_.compare_exchange(none, static_cast<std::uint32_t>(reason), memory_order::relaxed,
                                 memory_order::relaxed);
    for_each_ring([](auto const& ring) { ring.close(); });
  }
  /// Accepts submissions again. Posts during the change fail with device_busy.
  void reopen() noexcept {
    closed_for_.store(0, memory_order::relaxed);  // relaxed: posters that see it late retry
    for_each_ring([](auto const& ring) { ring.reopen(); });
  }
  /// The reason of `close`; ok: open.
  errc closed_for() const noexcept { return static_cast<errc>(closed_for_.load(memory_order::relaxed)); }

  /// Starts the poller, which passes each completion to `sink`, and opens the rings of submissions. `owner` as in
  /// device::start.
  void start(event_sink sink, own_threads const* owner = nullptr) {
    owner_ = owner;
    poller_.begin();
    reopen();
    std::packaged_task<void()> task([this, sink = std::move(sink)] {
      prepare_thread("rondo-poller", -1);
      own_threads::scope const own(owner_);
      thread_id_.store(std::this_thread::get_id(), std::memory_order_release);  // read by patiently
      poller_.run(sink);
    });
    ended_ = task.get_future();
    thread_ = start_thread("a device's completions", std::move(task));
  }
  own_threads const* owner() const noexcept { return owner_; }
  /// Ends the poller once it has drained all completions. Precondition: no more completions are written, or the caller
  /// expects false. False if the poller did not end within `limit`; its thread is then detached.
  bool stop(std::chrono::nanoseconds limit) {
    if (!thread_.joinable()) return true;
    poller_.end();
    bool const ended = ended_.wait_for(limit) == std::future_status::ready;
    ended ? thread_.join() : thread_.detach();
    return ended;
  }

 private:
  template <class Payload>
  static auto with_payload(submission_kind kind, Payload const& payload) {
    return [kind, &payload](std::uint32_t, submission& s) {
      s.kind = kind;
      s.how = post_order::apart;
      s.epoch = {};
      s.count = 1;
      s.to = s.ack = {};
      s.body.bytes = sizeof payload;
      __builtin_memcpy(s.body.payload, &payload, sizeof payload);
    };
  }
  template <class Order>
  errc order_with(submission_kind kind, Order const& o) {
    std::uint64_t ticket = 0;
    auto const outcome = push_to(queues_.down, 1, with_payload(kind, o), ticket);
    if (outcome == errc::ok && is_awaited(kind)) raise(orders_, ticket + 1);
    return outcome;
  }
  template <scope Scope>
  static void raise(atomic<std::uint64_t, Scope>& to, std::uint64_t ticket) noexcept {
    auto now = to.load(memory_order::relaxed);  // relaxed, both: a number that carries nothing
    while (now < ticket && !to.compare_exchange(now, ticket, memory_order::relaxed, memory_order::relaxed)) {
    }
  }

  /// Submits to the reader of what is sent `to`.
  template <class Fill>
  errc push(actor_id to, std::uint8_t priority, std::uint32_t count, Fill fill) {
    std::uint64_t ticket = 0;
    auto const team = queues_.direct_rings != 0 ? owners_.team_of(to) : std::nullopt;
    if (!team) return push_to(queues_.down, count, fill, ticket);
    auto& direct = queues_.direct[*team];
    auto const& ring = direct.ring;
    // L2. Relaxed: this thread's orders, and those of threads that it knows of. `awaited_` relaxed, too: if another
    // thread's `await_orders` had a later ticket than this message, this load would precede that thread's claim (the
    // edge `turn`), and so could not see what it raised after it.
    auto const orders = orders_.load(memory_order::relaxed);
    if (awaited_[*team].load(memory_order::relaxed) < orders) {
      // This wakes the team, too: others may have submitted behind it, and the message may find no room.
      auto const outcome =
          push_to(ring, 1, with_payload(submission_kind::await_orders, orders), ticket, &direct.rung);
      if (outcome != errc::ok) return outcome;
      raise(awaited_[*team], orders);
    }
    auto const outcome = push_to(ring, count, fill, ticket, &direct.rung);
    if (outcome == errc::ok && priority != default_priority) raise(direct.urgent, ticket + count);
    return outcome;
  }
  /// `rung`: of the direct ring, if its team is to be woken.
  template <class Fill>
  errc push_to(bus_ring_ref<submission, Bus> const& ring, std::uint32_t count, Fill fill,
               std::uint64_t& ticket, atomic<std::uint32_t, scope::system>* rung = nullptr) {
    switch (ring.try_push(count, fill, ticket)) {
      case push_outcome::pushed:
        if (idle_.park && rung != nullptr)
          rung->store(1, memory_order::release);  // pairs with wake_pinned_teams
        if (idle_.park) io_bell_.ring();
        if (idle_.park && wakes_poller_) poller_.bell().ring();
        return errc::ok;
      case push_outcome::full:
        return errc::device_busy;
      default: {
        auto const why = closed_for();  // ok: it is being reopened, or the reason is not visible yet
        return why == errc::ok ? errc::device_busy : why;
      }
    }
  }
  /// Repeats push(), which returns device_busy while there is no room.
  template <class Push>
  errc patiently(Push push) {
    auto const give_up = now_ns() + 1'000'000'000;
    for (;;) {
      auto const outcome = push();
      if (outcome != errc::device_busy ||
          std::this_thread::get_id() == thread_id_.load(std::memory_order_acquire) || now_ns() > give_up)
        return outcome;
      yield_thread();
    }
  }

  queue_pair_ref<Bus> queues_;
  team_owners const& owners_;
  idle_policy idle_;
  bool wakes_poller_;
  completion_poller<Bus> poller_;
  doorbell io_bell_;
  atomic<std::uint64_t> orders_{0};  // the tickets of all that direct rings await are below this one
  std::vector<atomic<std::uint64_t>> awaited_;  // by direct ring: what its last await_orders awaits
  atomic<std::uint32_t> closed_for_{0};
  own_threads const* owner_ = nullptr;
  std::atomic<std::thread::id> thread_id_{};
  std::future<void> ended_;
  std::thread thread_;
};

}  // namespace rondo
