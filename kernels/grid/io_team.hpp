// The I/O team, the only team that reads host memory: takes submissions in order and carries them out in the arena.
//
// It runs no handler and keeps no actor. It also tells the host which buffers of the device are free again.
// Threads: one thread of the device at a time. A new io_team continues where the last one stopped, so
// bounded rounds need no hand-over; grid.hpp decides when it stops.
// Invariants: L2 to L4 of queue_pair.hpp.
#pragma once

#include "kernels/actor/launch.hpp"
#include "kernels/link/queue_pair.hpp"

namespace rondo {

/// Reads submissions in order and can refuse them; only an io_team can carry them out. Threads: one at a time, on the
/// device; on the host once the device no longer reads.
template <class Bus = prompt_bus>
class submission_reader {
 public:
  /// `host` takes the completions; it may block until their ring has room.
  RONDO_HD submission_reader(bus_ring_ref<submission, Bus> const& down, host_port const& host) noexcept
      : in_(down), host_(host) {}

  /// Completes one submission or batch with `reason` instead of carrying it out. False if there is none.
  RONDO_HD bool refuse_next(errc reason) {
    submission const* const s = in_.peek();
    if (s == nullptr) return false;
    auto const slots = slots_of(*s);
    if (s->kind == submission_kind::post || s->ack.valid()) conclude(*s, reason);
    in_.advance(slots);
    in_.publish();
    return true;
  }

  /// The ticket of the next submission.
  RONDO_HD std::uint64_t head() const noexcept { return in_.head(); }
  /// Whether something was submitted, even if the bus does not show it yet.
  RONDO_HD bool has_work() const noexcept { return in_.was_published(); }

 protected:
  RONDO_HD static std::uint32_t slots_of(submission const& s) noexcept {
    return s.kind == submission_kind::post ? s.count : 1;
  }

  /// Reports a submission's outcome to the host: through its ack, its message's ask, or dead letters
  /// (L3).
  RONDO_HD void conclude(submission const& s, errc reason) {
    if (s.ack.valid()) return reply(s.ack, s.to, reason);
    if (s.kind != submission_kind::post) return;
    message_header const& h = s.body.header;
    bool const is_ask = (h.flags & flag_wants_reply) != 0 && (h.reply_to.index & host_ask_bit) != 0;
    for (std::uint32_t i = 0; i < s.count; ++i) {
      if (is_ask)
        reply(h.reply_to, s.to, reason);
      else
        dead_letter(s.to, h, in_.at(i).body.payload, s.body.bytes, reason);
    }
  }

  bus_reader<submission, Bus> in_;

  host_port host_;

 private:
  RONDO_HD void reply(actor_id ask, actor_id from, errc reason) {
    device_event r{.kind = event_kind::reply, .reason = reason, .actor = from};
    r.body.header.reply_to = ask;
    host_.emit(r);
  }

  RONDO_HD void dead_letter(actor_id to, message_header const& header, std::byte const* payload,
                            std::uint32_t bytes, errc reason) {
    device_event r{.kind = event_kind::dead_letter, .reason = reason, .actor = to};
    r.body.header = header;
    r.body.bytes = bytes;
    copy_words(r.body.payload, payload, bytes);
    host_.emit(r);
  }
};

template <class Module, class Bus = prompt_bus>
class io_team : public submission_reader<Bus> {
  using reader = submission_reader<Bus>;

 public:
  RONDO_HD io_team(arena_ref arena, bus_ring_ref<submission, Bus> const& down, host_port const& host) noexcept
      : reader(down, host), scheduler_(arena) {}

  /// Carries out submissions until `limit` messages are taken or none is left. A batch is taken whole. Returns
  /// the number of messages taken.
  RONDO_HD std::uint32_t step(std::uint32_t limit) {
    std::uint32_t taken = 0;
    while (taken < limit) {
      submission const* const shared = this->in_.peek();
      if (shared == nullptr) break;
      // Copied at once: each read that waits for the one before costs a trip over the bus.
      submission s;
      copy_words(&s, shared, sizeof s);
      auto const slots = reader::slots_of(s);
      carry_out(s);
      taken += slots;
      this->in_.advance(slots);
    }
    if (taken != 0) this->in_.publish();
    report_free_buffers();
    return taken;
  }

 private:
  RONDO_HD void report_free_buffers() {
    auto const& buffers = this->host_.buffers;
    if (buffers.size() == 0) return;
    for (auto next = buffers.take_returned(); next != 0;) {
      auto const slot = next - 1;
      next = buffers.entry(slot).next.load(memory_order::relaxed);  // relaxed: taken with the stack
      this->host_.emit({.kind = event_kind::buffer_free, .detail = slot});
    }
  }

  RONDO_HD void carry_out(submission const& s) {
    errc outcome = errc::ok;
    if (s.kind == submission_kind::launch) {
      launch_spec spec;
      __builtin_memcpy(&spec, s.body.payload, sizeof spec);
      launch_actor<Module>(scheduler_, spec);
    } else if (s.kind == submission_kind::open_buffer || s.kind == submission_kind::close_buffer) {
      buffer_order order;
      __builtin_memcpy(&order, s.body.payload, sizeof order);
      if (s.kind == submission_kind::open_buffer)
        this->host_.buffers.open_as(order.ref, reinterpret_cast<std::byte*>(order.base));
      else
        this->host_.buffers.release(order.ref);  // free at once, or when its last lease ends
    } else if (s.kind == submission_kind::signal) {
      outcome = scheduler_.signal(s.to, s.count) ? errc::ok : errc::actor_gone;
    } else if (s.count == 1) {
      outcome = scheduler_.post(s.to, s.body.header, s.body.payload, s.body.bytes);
    } else {
      outcome = scheduler_.post_each(s.to, s.body.header, s.body.bytes, s.count,
                                     [this](std::uint32_t i) { return this->in_.at(i).body.payload; });
    }
    if (outcome != errc::ok || s.ack.valid()) this->conclude(s, outcome);
  }

  scheduler scheduler_;
};

}  // namespace rondo
