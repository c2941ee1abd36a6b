// The host's end of a queue pair: it writes submissions to one ring, and its own thread drains the other
// (completion_poller.hpp).
//
// Ownership: does not own the rings; owns the thread `rondo-poller` from start to stop.
// Threads: submit, launch, and signal from any; start and stop one at a time. Posts never block: if the ring is full,
// they fail with errc::device_busy. launch and signal wait for room (with a time limit), except on the poller's thread,
// which might wait for its own work.
#pragma once

#include <chrono>
#include <future>
#include <thread>

#include "kernels/link/queue_pair.hpp"
#include "runtime/device/queue/completion_poller.hpp"
#include "runtime/messaging/route.hpp"
#include "runtime/os/prepare_thread.hpp"

namespace rondo {

template <class Bus = prompt_bus>
class host_queues final : public far_mail {
 public:
  /// `nap_ns`: 0 if the device's teams ring for the poller (completion_poller::bell). Otherwise the poller sleeps no
  /// longer than that, and each submission wakes it, because it may get an answer.
  host_queues(queue_pair_ref<Bus> queues, idle_policy idle, std::uint64_t nap_ns = 0) noexcept
      : queues_(queues),
        idle_(idle),
        wakes_poller_(nap_ns != 0),
        poller_(queues.up, idle, nap_ns != 0 ? nap_ns : 1'000'000'000) {}

  queue_pair_ref<Bus> const& queues() const noexcept { return queues_; }
  /// Wakes the reader of submissions, if that is a sleeping thread.
  doorbell& io_bell() noexcept { return io_bell_; }
  completion_poller<Bus>& poller() noexcept { return poller_; }

  queue_counts counts() const noexcept {
    auto const taken = queues_.down.count_consumed();  // first: never more than were submitted
    return {queues_.down.tail(), taken, queues_.up.count_consumed(), queues_.down.slot_count,
            queues_.up.slot_count};
  }

  /// Fails with payload_too_large for a batch larger than the ring.
  errc submit(mail_view const& mail, actor_id ack) override {
    if (mail.count == 0) return errc::ok;
    if (mail.bytes > max_payload_bytes || mail.count > queues_.down.slot_count)
      return errc::payload_too_large;
    auto const* const payloads = static_cast<std::byte const*>(mail.payloads);
    return push(mail.count, [&](std::uint32_t i, submission& s) {
      s.kind = submission_kind::post;
      s.count = mail.count;
      s.to = mail.to;
      s.ack = ack;
      s.body.header = mail.header;
      s.body.bytes = mail.bytes;
      __builtin_memcpy(s.body.payload, payloads + std::uint64_t{i} * mail.stride, mail.bytes);
    });
  }

  errc launch(launch_spec const& spec) {
    return push_patiently([&](std::uint32_t, submission& s) {
      s.kind = submission_kind::launch;
      s.to = spec.id;
      s.ack = {};
      s.body.bytes = sizeof spec;
      __builtin_memcpy(s.body.payload, &spec, sizeof spec);
    });
  }
  /// Like a post, never waits for room.
  errc order(submission_kind kind, buffer_order const& o) {
    return push(1, [&](std::uint32_t, submission& s) {
      s.kind = kind;
      s.to = s.ack = {};
      s.body.bytes = sizeof o;
      __builtin_memcpy(s.body.payload, &o, sizeof o);
    });
  }
  errc signal(actor_id to, std::uint32_t control) {
    return push_patiently([&](std::uint32_t, submission& s) {
      s.kind = submission_kind::signal;
      s.count = control;
      s.to = to;
      s.ack = {};
      s.body.bytes = 0;
    });
  }

  /// Refuses all later submissions with `reason`; returns the number of tickets issued before. The first reason stays.
  std::uint64_t close(errc reason) noexcept {
    auto none = static_cast<std::uint32_t>(errc::ok);
    // Relaxed here and in closed_for: only the reason, and push handles the case that it is not visible yet.
    closed_for_.compare_exchange(none, static_cast<std::uint32_t>(reason), memory_order::relaxed,
                                 memory_order::relaxed);
    return queues_.down.close();
  }
  /// Accepts submissions again. Posts during the change fail with device_busy.
  void reopen() noexcept {
    closed_for_.store(0, memory_order::relaxed);  // relaxed: posters that see it late retry
    queues_.down.reopen();
  }
  /// The reason of `close`; ok: open.
  errc closed_for() const noexcept { return static_cast<errc>(closed_for_.load(memory_order::relaxed)); }

  /// Starts the poller, which passes each completion to `sink`, and opens the submission ring.
  void start(event_sink sink) {
    poller_.begin();
    reopen();
    std::packaged_task<void()> task([this, sink = std::move(sink)] {
      prepare_thread("rondo-poller", -1);
      thread_id_.store(std::this_thread::get_id(), std::memory_order_release);  // read by push_patiently
      poller_.run(sink);
    });
    ended_ = task.get_future();
    thread_ = std::thread(std::move(task));
  }
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
  template <class Fill>
  errc push(std::uint32_t count, Fill fill) {
    std::uint64_t ticket = 0;
    switch (queues_.down.try_push(count, fill, ticket)) {
      case push_outcome::pushed:
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
  template <class Fill>
  errc push_patiently(Fill fill) {
    auto const give_up = now_ns() + 1'000'000'000;
    for (;;) {
      auto const outcome = push(1, fill);
      if (outcome != errc::device_busy ||
          std::this_thread::get_id() == thread_id_.load(std::memory_order_acquire) || now_ns() > give_up)
        return outcome;
      yield_thread();
    }
  }

  queue_pair_ref<Bus> queues_;
  idle_policy idle_;
  bool wakes_poller_;
  completion_poller<Bus> poller_;
  doorbell io_bell_;
  atomic<std::uint32_t> closed_for_{0};
  std::atomic<std::thread::id> thread_id_{};
  std::future<void> ended_;
  std::thread thread_;
};

}  // namespace rondo
