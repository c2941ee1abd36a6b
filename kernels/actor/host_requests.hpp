// Requests of a handler to its host: messages that come later, answers within a time limit, children, and notice when
// others end.
//
// A part of the context. The host carries the requests out after the call returns, in the order of the calls; none
// needs room.
#pragma once

#include "kernels/base/address.hpp"
#include "kernels/base/team.hpp"
#include "kernels/link/device_event.hpp"

namespace rondo {

template <class Context>
class host_requests {
 public:
  /// Sends `m` after `delay_us` on the host's clock. If it cannot be delivered then, it becomes a dead letter.
  template <class Behaviour, message_type Message>
  requires takes<Behaviour, Message> RONDO_HD void tell_later(std::uint64_t delay_us, address<Behaviour> to,
                                                              Message const& m,
                                                              send_options options = {}) noexcept {
    if (!ctx().team().leader()) return;
    device_event r{.kind = event_kind::send_later, .actor = to.id, .detail = delay_us};
    fill(r, m, ctx().template header_for<Message>(options, 0, {}));
    ctx().tag(r.body);
    ctx().request(r, to.id);
  }

  /// Starts this actor's timer `key`, or starts it again with other terms: `us` microseconds later, and if it repeats,
  /// at each multiple of that, `m` is sent to `to`. If that mailbox is full, a message of a timer that does not repeat
  /// waits for room; another one becomes a dead letter. A timer ends with `to`, with this actor, and when this actor
  /// restarts with a fresh state.
  template <class Behaviour, message_type Message>
  requires takes<Behaviour, Message> RONDO_HD void set_timer(std::uint32_t key, std::uint64_t us,
                                                             address<Behaviour> to, Message const& m,
                                                             timer_options options = {}) noexcept {
    if (!ctx().team().leader()) return;
    device_event r{.kind = event_kind::set_timer,
                   .actor = ctx().self(),
                   .detail = timer_request::of(us, options.repeats).bits,
                   .behaviour = key};
    fill(r, m, ctx().template header_for<Message>({.priority = options.priority}, 0, {}));
    r.body.header.reply_to = to.id;
    ctx().request(r, to.id);
  }
  /// Ends this actor's timer `key`, if it runs. A message that it has sent before still comes.
  RONDO_HD void cancel_timer(std::uint32_t key) noexcept {
    if (!ctx().team().leader()) return;
    device_event r{.kind = event_kind::cancel_timer, .actor = ctx().self(), .behaviour = key};
    ctx().request(r, ctx().self());
  }

  /// As ask, with a time limit: either the answer comes within `timeout_us`, or a `rejected` with this `correlation`
  /// and the reason timed_out, or why there is no answer; never both. The request waits for room in the mailbox of `to`
  /// until then. It goes by the host, so messages that this actor sends directly may overtake it.
  template <class Behaviour, message_type Message>
  requires takes<Behaviour, Message> RONDO_HD void ask_within(
      std::uint64_t timeout_us, address<Behaviour> to, Message const& m, std::uint32_t correlation,
      std::uint8_t priority = default_priority) noexcept {
    if (!ctx().team().leader()) return;
    device_event r{.kind = event_kind::ask_within, .actor = to.id, .detail = timeout_us};
    fill(r, m, ctx().template header_for<Message>({.priority = priority}, correlation, ctx().self()));
    ctx().request(r, to.id);
  }

  /// This actor gets the message `ended` once when `who` has ended, at once if it has already. Several watches of the
  /// same actor count as one. A restart does not end a watch.
  RONDO_HD void watch(actor_id who) noexcept { bond(who, bond_request::watch); }
  /// An `ended` that was sent before still comes.
  RONDO_HD void unwatch(actor_id who) noexcept { bond(who, bond_request::unwatch); }
  /// If one of the two actors is stopped by a failure, or has ended before, the other one is terminated, too, without
  /// handling its mail.
  RONDO_HD void link(actor_id who) noexcept { bond(who, bond_request::link); }
  /// Ends the link on both sides.
  RONDO_HD void unlink(actor_id who) noexcept { bond(who, bond_request::unlink); }

  /// Launches a child: an actor on the same device, which ends with this actor, and when this actor restarts with a
  /// fresh state. Its name is that of this actor, a slash, the behaviour's, and a number. The message `launched` with
  /// this correlation brings its address. With the rule `escalate` in options.supervise, its failures are this actor's
  /// to decide on; see child_failed.
  template <class Behaviour>
  RONDO_HD void launch(std::uint32_t correlation, child_options options = {}) noexcept {
    launch_with<Behaviour>(correlation, options, nullptr, 0);
  }
  /// With the arguments for its on_start.
  template <class Behaviour>
  RONDO_HD void launch(std::uint32_t correlation, child_options options,
                       typename Behaviour::arguments const& arguments) noexcept {
    launch_with<Behaviour>(correlation, options, &arguments, sizeof arguments);
  }
  /// Ends any actor.
  RONDO_HD void terminate(actor_id who, termination how = termination::drain) noexcept {
    if (!ctx().team().leader()) return;
    device_event r{
        .kind = event_kind::end_actor,
        .actor = ctx().self(),
        .detail = static_cast<std::uint64_t>(how == termination::drain ? control_drain : control_discard)};
    r.body.header.reply_to = who;
    ctx().request(r, who);
  }
  /// Gives a child a fresh state, and activates it. Its mail stays.
  RONDO_HD void restart(actor_id child) noexcept {
    if (!ctx().team().leader()) return;
    device_event r{.kind = event_kind::restart_child, .actor = ctx().self()};
    r.body.header.reply_to = child;
    ctx().request(r, child);
  }

 private:
  RONDO_HD Context& ctx() noexcept { return *static_cast<Context*>(this); }

  template <class Message>
  RONDO_HD void fill(device_event& r, Message const& m, message_header const& header) noexcept {
    r.body.header = header;
    r.body.bytes = sizeof m;
    __builtin_memcpy(r.body.payload, &m, sizeof m);
    ctx().note_payload(m);
  }
  RONDO_HD void bond(actor_id who, bond_request what) noexcept {
    if (!ctx().team().leader()) return;
    device_event r{
        .kind = event_kind::bond, .actor = ctx().self(), .detail = static_cast<std::uint64_t>(what)};
    r.body.header.reply_to = who;
    ctx().request(r, who);
  }
  template <class Behaviour>
  RONDO_HD void launch_with(std::uint32_t correlation, child_options const& options, void const* arguments,
                            std::uint32_t bytes) noexcept {
    if (!ctx().team().leader()) return;
    child_request what{.options = options, .argument_bytes = bytes, .arguments = {}};
    if (bytes != 0) __builtin_memcpy(what.arguments, arguments, bytes);
    device_event r{.kind = event_kind::launch_child, .actor = ctx().self()};
    r.body.header.type = type_id<Behaviour>;
    r.body.header.correlation = correlation;
    r.body.bytes = sizeof what;
    __builtin_memcpy(r.body.payload, &what, sizeof what);
    ctx().request(r, ctx().self());
  }
};

}  // namespace rondo
