// The host's end of a lane pair: puts submissions into one ring, and drains the other with a thread of its
// own.
//
// Ownership: owns nothing of the rings; owns the thread `rondo-poller`, from start to stop.
// Threads: post, launch and signal from any; start and stop one at a time. Never blocks a poster: a full ring
// is errc::device_busy. launch and signal wait for room (bounded), except on the poller's thread, whose own
// work might be what they would wait for.
#pragma once

#include <chrono>
#include <future>
#include <thread>

#include "kernels/lane_pair.hpp"
#include "runtime/device.hpp"
#include "runtime/device/doorbell.hpp"
#include "runtime/device/team_threads.hpp"

namespace rondo {

template <class Bus = prompt_bus>
class host_lanes {
 public:
  host_lanes(lane_pair_ref<Bus> lanes, idle_policy idle) noexcept : lanes_(lanes), idle_(idle) {}

  lane_pair_ref<Bus> const& lanes() const noexcept { return lanes_; }
  /// Wakes who reads the submissions, when that is a thread that sleeps.
  doorbell& io_bell() noexcept { return io_bell_; }
  /// Wakes the poller, when the completions are written by threads of this process.
  doorbell& poller_bell() noexcept { return poller_bell_; }

  /// As device::post. A batch larger than the ring is refused with payload_too_large.
  errc post(actor_id to, message_header const& header, std::byte const* payload, std::uint32_t bytes,
            std::uint32_t stride, std::uint32_t count, actor_id ack, bool want_room) {
    if (count == 0) return errc::ok;
    if (bytes > max_payload_bytes || count > lanes_.down.slot_count) return errc::payload_too_large;
    return submit(count, [&](std::uint32_t i, submission& s) {
      if (i == 0) {  // the rest of a batch is payload alone
        s.kind = submission_kind::post;
        s.want_room = want_room;
        s.count = count;
        s.to = to;
        s.ack = ack;
        s.body.header = header;
        s.body.bytes = bytes;
      }
      __builtin_memcpy(s.body.payload, payload + std::uint64_t{i} * stride, bytes);
    });
  }

  errc launch(launch_spec const& spec) {
    return submit_patiently([&](std::uint32_t, submission& s) {
      s.kind = submission_kind::launch;
      s.to = spec.id;
      s.ack = {};
      s.body.bytes = sizeof spec;
      __builtin_memcpy(s.body.payload, &spec, sizeof spec);
    });
  }
  errc signal(actor_id to, std::uint32_t control) {
    return submit_patiently([&](std::uint32_t, submission& s) {
      s.kind = submission_kind::signal;
      s.count = control;
      s.to = to;
      s.ack = {};
    });
  }

  /// Refuses all that follows with `reason`; returns the tickets given out before. The first reason stays.
  std::uint64_t close(errc reason) noexcept {
    auto none = static_cast<std::uint32_t>(errc::ok);
    // Relaxed here and in closed_for: the reason alone, which submit does not expect to have arrived.
    closed_for_.compare_exchange(none, static_cast<std::uint32_t>(reason), memory_order::relaxed,
                                 memory_order::relaxed);
    return lanes_.down.close();
  }
  /// Takes submissions again. Posts that come in between are told device_busy.
  void reopen() noexcept {
    closed_for_.store(0, memory_order::relaxed);  // relaxed: who sees it too early or too late tries again
    lanes_.down.reopen();
  }
  /// ok: open.
  errc closed_for() const noexcept { return static_cast<errc>(closed_for_.load(memory_order::relaxed)); }

  /// Starts the poller, which hands each completion to `sink`, and opens the way down.
  void start(record_sink sink) {
    sink_ = std::move(sink);
    ending_.store(0, memory_order::relaxed);  // relaxed: no poller yet
    reopen();
    std::packaged_task<void()> task([this] { poll(); });
    ended_ = task.get_future();
    poller_ = std::thread(std::move(task));
  }
  /// Ends the poller when it has drained all completions. Precondition: nobody writes any more, or false is
  /// expected. False when a sink did not return within `limit`; the thread is left behind then.
  bool stop(std::chrono::nanoseconds limit) {
    if (!poller_.joinable()) return true;
    ending_.store(1, memory_order::release);
    poller_bell_.ring();
    bool const ended = ended_.wait_for(limit) == std::future_status::ready;
    ended ? poller_.join() : poller_.detach();
    return ended;
  }

  /// The poller leaves completions where they are until it is let go or stopped.
  void hold_completions(bool held) noexcept {
    held_.store(held, memory_order::release);
    poller_bell_.ring();
  }

 private:
  template <class Fill>
  errc submit(std::uint32_t count, Fill fill) {
    std::uint64_t ticket = 0;
    switch (lanes_.down.try_push(count, fill, ticket)) {
      case push_outcome::pushed:
        if (idle_.park) io_bell_.ring();
        return errc::ok;
      case push_outcome::full:
        return errc::device_busy;
      default: {
        auto const why =
            closed_for();  // ok: it is being opened again, or the reason is still on its way here
        return why == errc::ok ? errc::device_busy : why;
      }
    }
  }
  template <class Fill>
  errc submit_patiently(Fill fill) {
    auto const give_up = now_ns() + 1'000'000'000;
    for (;;) {
      auto const outcome = submit(1, fill);
      if (outcome != errc::device_busy ||
          std::this_thread::get_id() == poller_id_.load(std::memory_order_acquire) || now_ns() > give_up)
        return outcome;
      yield_thread();
    }
  }

  void poll() {
    prepare_team_thread("rondo-poller", -1);
    poller_id_.store(std::this_thread::get_id(), std::memory_order_release);  // to submit_patiently
    bus_reader<host_record, Bus> in{lanes_.up};
    idle_thread idle{idle_.spin_ns, idle_.park};
    for (;;) {
      bool const ending =
          ending_.load(memory_order::acquire) != 0;  // before the look: what was written is seen
      bool const held = !ending && held_.load(memory_order::acquire) != 0;
      if (host_record const* const r = held ? nullptr : in.peek()) {
        sink_(*r);
        in.advance(1);
        in.publish();
        idle.worked();
        continue;
      }
      if (ending && !in.was_published()) return;
      idle.wait(poller_bell_, held || !in.was_published(), [&] {
        return ending_.load(memory_order::relaxed) != 0 ||
               (held ? held_.load(memory_order::relaxed) == 0 : in.was_published());
      });
    }
  }

  lane_pair_ref<Bus> lanes_;
  idle_policy idle_;
  record_sink sink_;
  doorbell io_bell_, poller_bell_;
  atomic<std::uint32_t> ending_{0}, held_{0}, closed_for_{0};
  std::atomic<std::thread::id> poller_id_{};
  std::future<void> ended_;
  std::thread poller_;
};

}  // namespace rondo
