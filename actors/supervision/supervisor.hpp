// A supervisor: launches its children when it starts, and gives a fresh state to those that fail, as its strategy says.
//
//   struct office : rondo::supervisor<rondo::one_for_all<3, 5000>, clerk, printer> {};
//
// A child keeps its id and its waiting mail when it restarts; the message that failed it is tried again, see
// supervision::poison_after. A child that ends in another way is not launched again. Too many restarts fail the
// supervisor itself, with too_many_restarts: its own rule then says what follows, and with `escalate` that is up to the
// supervisor that launched it, or else ends the runtime. All children of a supervisor that restarts or ends are ended.
// Threads: as every behaviour. The order of restarts is that of the children.
#pragma once

#include "kernels/actor/context.hpp"

namespace rondo {

/// The strategies: who gets a fresh state when one child has failed. More than `Most` failures within `WithinMs`
/// milliseconds fail the supervisor.
template <std::uint32_t Most = 3, std::uint64_t WithinMs = 5000>
struct one_for_one {
  static constexpr std::uint32_t most = Most;           // failures
  static constexpr std::uint64_t within_ms = WithinMs;  // of the first of them
  /// Whether `child` is restarted when `failed` has failed: places in the list of children.
  RONDO_HD static constexpr bool concerns(std::uint32_t failed, std::uint32_t child) noexcept {
    return failed == child;
  }
};
/// All children: they depend on each other.
template <std::uint32_t Most = 3, std::uint64_t WithinMs = 5000>
struct one_for_all : one_for_one<Most, WithinMs> {
  /// As for one_for_one.
  RONDO_HD static constexpr bool concerns(std::uint32_t, std::uint32_t) noexcept { return true; }
};
/// The one that failed, and those after it: each depends on those before it.
template <std::uint32_t Most = 3, std::uint64_t WithinMs = 5000>
struct rest_for_one : one_for_one<Most, WithinMs> {
  /// As for one_for_one.
  RONDO_HD static constexpr bool concerns(std::uint32_t failed, std::uint32_t child) noexcept {
    return failed <= child;
  }
};

/// Asks a supervisor for the child at this place in its list, from 0.
struct child_at {
  std::uint32_t index;  // its place
};
/// `reason`: ok, or not_found if there is no such child, or no longer.
struct child_place {
  actor_id who;  // the child
  errc reason;   // ok, or why there is none
};

template <class Strategy, class... Children>
struct supervisor {
  static constexpr std::uint32_t count = sizeof...(Children);  // of its children
  /// What it takes; programs send it child_at.
  using messages = rondo::messages<launched, child_failed, ended, rondo::ask<child_at, child_place>>;

  // -- for the runtime
  RONDO_HD void on_start(context& ctx) {
    std::uint32_t index = 0;
    (ctx.template launch<Children>(index++, {.supervise = {.rule = on_failure::escalate}}), ...);
  }
  RONDO_HD void on(context& ctx, launched const& m) {
    auto const index = ctx.header().correlation;
    if (index >= count) return;  // not from its host
    if (m.reason != errc::ok) return ctx.fail(m.reason);
    // After a restart, messages to the state before may still come; then another one for this place follows.
    launched_ += children_[index].valid() ? 0 : 1;
    children_[index] = m.who;
    ctx.watch(m.who);
    if (launched_ < count) return;
    for (std::uint32_t i = 0; i < waiting_; ++i) ctx.reply_to(askers_[i].token, place_of(askers_[i].index));
    waiting_ = 0;
  }
  RONDO_HD void on(context& ctx, child_failed const& m) {
    auto const failed = index_of(m.who);
    if (failed == count) return;  // of a state before this one
    auto const now = ctx.now_ns();
    if (restarts_ == 0 || now - window_ns_ > Strategy::within_ms * 1'000'000) window_ns_ = now, restarts_ = 0;
    if (++restarts_ > Strategy::most) return ctx.fail(errc::too_many_restarts);
    for (std::uint32_t i = 0; i < count; ++i)
      if (children_[i].valid() && Strategy::concerns(failed, i)) ctx.restart(children_[i]);
  }
  RONDO_HD void on(context&, ended const& m) {
    if (auto const gone = index_of(m.who); gone != count) children_[gone] = {};
  }
  RONDO_HD void on(context& ctx, child_at const& m) {
    if (launched_ >= count) return static_cast<void>(ctx.reply(place_of(m.index)));
    if (waiting_ == most_askers) return ctx.reject(errc::mailbox_full);
    askers_[waiting_++] = {ctx.defer(), m.index};
  }

 private:
  static constexpr std::uint32_t most_askers = 8;  // before all children are launched
  struct asker {
    reply_token token;
    std::uint32_t index;
  };

  RONDO_HD std::uint32_t index_of(actor_id who) const noexcept {
    std::uint32_t i = 0;
    while (i < count && !(children_[i] == who)) ++i;
    return i;
  }
  RONDO_HD child_place place_of(std::uint32_t index) const noexcept {
    if (index >= count || !children_[index].valid()) return {{}, errc::not_found};
    return {children_[index], errc::ok};
  }

  actor_id children_[count]{};
  std::uint32_t launched_ = 0, restarts_ = 0, waiting_ = 0;
  std::uint64_t window_ns_ = 0;
  asker askers_[most_askers]{};
};

}  // namespace rondo
