// The deliberate misbehaviour of the `emulated` device: delays on its bus, and faults for tests.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <vector>

#include "kernels/actor/module.hpp"
#include "kernels/base/clock.hpp"
#include "kernels/link/bus_ring.hpp"
#include "runtime/base/config.hpp"

namespace rondo {

/// Faults that each happen once. 0: never.
struct fault_plan {
  std::uint64_t lose_after_messages = 0;  // the device is lost after taking this many from one ring
  std::uint64_t fail_handler = 0;   // the n-th handler call (from 1, over all teams) reports handler_failed
  std::uint64_t stall_handler = 0;  // the n-th handler call first sleeps for stall_us, ignoring the stop word
  std::uint64_t stall_us = 0;
};

struct emulation_options {
  std::uint64_t seed = 1;
  std::uint64_t visibility_delay_ns = 0;  // the longest time for a write to cross the bus
  fault_plan faults;
};

emulation_options emulation_options_for(config const& c);

/// What a bus needs for a copy. Zeros: copies take as long as the host's memory does.
struct bus_model {
  std::uint64_t latency_ns = 0;  // of each batch of copies; those of several batches overlap
  double ns_per_byte = 0;        // in each direction, one batch after the other
};

/// One direction of a modelled bus. Threads: any.
class modelled_bus {
 public:
  using clock = std::chrono::steady_clock;
  /// Takes the bus for `bytes` as soon as it is free, and returns when they have crossed it.
  clock::time_point crossed(bus_model const& model, std::uint64_t bytes);
  /// Sleeps until then, with as little delay as the kernel can.
  static void wait_until(clock::time_point when);

 private:
  std::mutex mutex_;
  clock::time_point free_at_{};  // guarded by mutex_
};

/// One direction of the emulated bus: when each slot of a ring becomes visible to the other side, and its faults.
struct emulated_wire {
  emulated_wire(std::uint32_t slots, emulation_options const& o, std::uint64_t stream);

  std::vector<atomic<std::uint64_t>> visible_at_ns;  // by slot, set by the ring's writers; empty: no delays
  atomic<std::uint64_t> room_visible_at_ns{0};
  std::uint64_t delay_ns, seed;
  atomic<std::uint32_t> held{0};    // 1: nothing becomes visible
  std::uint64_t breaks_at = ~0ull;  // reading this ticket makes the machine fault
  std::function<void()> on_break;
};

/// A bus on which each write becomes visible after its own random delay, up to a limit, in any order that the
/// protocol allows: items of different tickets are independent, and so is the reader's progress. Without
/// delays it costs only a few checks. Copied by value into every bus_ring_ref.
class emulated_bus {
 public:
  emulated_bus() = default;
  explicit emulated_bus(emulated_wire* wire) noexcept : wire_(wire) {}

  bool shows(std::uint64_t ticket) const {
    if (wire_->held.load(memory_order::relaxed) != 0) return false;  // relaxed: a test's request
    if (ticket >= wire_->breaks_at) return wire_->on_break(), false;
    return wire_->visible_at_ns.empty() || now_ns() >= at(ticket).load(memory_order::relaxed);
  }
  /// Relaxed: published, as the item is, by the slot's sequence.
  void wrote(std::uint64_t ticket) const noexcept {
    if (!wire_->visible_at_ns.empty()) at(ticket).store(now_ns() + delay_of(ticket), memory_order::relaxed);
  }
  static void published() noexcept {}
  /// Relaxed: it does not matter which writer chooses the next delay.
  bool shows_room() const noexcept {
    if (wire_->visible_at_ns.empty()) return true;
    auto const now = now_ns();
    if (now < wire_->room_visible_at_ns.load(memory_order::relaxed)) return false;
    wire_->room_visible_at_ns.store(now + delay_of(now), memory_order::relaxed);
    return true;
  }

 private:
  atomic<std::uint64_t>& at(std::uint64_t ticket) const noexcept {
    return wire_->visible_at_ns[ticket & (wire_->visible_at_ns.size() - 1)];
  }
  /// Deterministic in the seed and `number`.
  std::uint64_t delay_of(std::uint64_t number) const noexcept;

  emulated_wire* wire_ = nullptr;
};

/// The memory of one ring, and its wire.
template <class Item>
class emulated_ring {
 public:
  emulated_ring(std::uint32_t slots, emulation_options const& o, std::uint64_t stream)
      : slots_(ceil_power_of_two(slots < 2 ? 2 : slots)),
        wire_(static_cast<std::uint32_t>(slots_.size()), o, stream) {}
  bus_ring_ref<Item, emulated_bus> ref() noexcept {
    return {slots_.data(), &progress_, &writers_, static_cast<std::uint32_t>(slots_.size()),
            emulated_bus{&wire_}};
  }
  emulated_wire& wire() noexcept { return wire_; }

 private:
  std::vector<bus_slot<Item>> slots_;
  bus_progress progress_{};
  bus_writers writers_{};
  emulated_wire wire_;
};

/// Counts handler calls and injects their faults. Threads: all teams.
class handler_faults {
 public:
  explicit handler_faults(fault_plan const& plan) noexcept
      : plan_(plan), armed_(plan.fail_handler != 0 || plan.stall_handler != 0) {}
  bool armed() const noexcept { return armed_; }
  /// True if the next handler call must fail. May sleep.
  bool fails_next_call() noexcept;

 private:
  fault_plan plan_;
  bool armed_;
  atomic<std::uint64_t> calls_{0};
};

/// The beginning of the object behind an emulated device's host_port::self.
struct emulated_port {
  handler_faults* faults = nullptr;
};

/// `Module` with the faults of an emulated device around its handlers. The host_port's `self` must point to an object
/// that begins with an emulated_port.
template <class Module>
struct faulty_module : Module {
  template <class Mail>
  static handler_kind handle_one(std::uint16_t behaviour, std::byte* state, context& ctx, Mail const& mail) {
    auto const kind = Module::kind_of(behaviour, mail.header.type);
    if (kind == handler_kind::one && fails(ctx)) return ctx.fail(), kind;
    return Module::handle_one(behaviour, state, ctx, mail);
  }
  static void handle_batch(std::uint16_t behaviour, std::byte* state, context& ctx, std::uint32_t type,
                           payload_places const& payloads, std::uint32_t count) {
    if (fails(ctx)) return ctx.fail();
    Module::handle_batch(behaviour, state, ctx, type, payloads, count);
  }

 private:
  /// The leader decides for all lanes, because they must take the same path.
  static bool fails(context const& ctx) {
    auto& faults = *static_cast<emulated_port*>(ctx.host().self)->faults;
    return faults.armed() && ctx.team().broadcast(ctx.team().leader() && faults.fails_next_call());
  }
};

}  // namespace rondo
