// The runtime's handling of its devices' events.
#include <fmt/format.h>

#include "runtime/core/runtime_core.hpp"

namespace rondo {

void runtime_core::on_event(std::uint32_t device, device_event const& r) {
  switch (r.kind) {
    case event_kind::reply:
      return;  // see start_devices
    case event_kind::dead_letter:
      return watched_.on_undelivered(r.actor, r.body.header.type, r.body.payload, r.body.bytes, r.reason);
    case event_kind::returned: {
      if (r.reason != errc::mailbox_full && r.reason != errc::arena_full)
        return not_forwarded({r.actor, r.body}, r.reason);
      returned_mail about;
      __builtin_memcpy(&about, &r.detail, sizeof about);
      return devices_.mail_of(r.actor).take_back({r.actor, r.body}, about);
    }
    case event_kind::actor_failed:
      watched_.on_failure(r);
      requests_.on_failed(r);
      if (static_cast<failure_action>(r.detail) == failure_action::escalated) close(errc::handler_failed);
      return;
    case event_kind::threw:
      return watched_.on_threw(r);
    case event_kind::logged:
      return watched_.on_logged(r);
    case event_kind::terminated:
      return on_terminated(r);
    case event_kind::state_changed:
      return control_.on_state(r.actor, static_cast<lifecycle>(r.detail));
    case event_kind::room:
      return devices_.mail_of(r.actor).on_room(r.actor);
    case event_kind::forward:
      return forward(r.actor, r.body);
    case event_kind::send_later:
    case event_kind::set_timer:
    case event_kind::cancel_timer:
    case event_kind::ask_within:
    case event_kind::bond:
    case event_kind::launch_child:
    case event_kind::end_actor:
    case event_kind::restart_child:
      return requests_.take(r);
    case event_kind::depths:
      return control_.on_depths(r);
    case event_kind::buffer_free:
      return devices_[device].buffers->on_free_at_home(static_cast<std::uint32_t>(r.detail));
    case event_kind::handled:
    case event_kind::not_handled:
      return on_ended(r);
    case event_kind::device_lost:
      return on_device_lost(device, r);
  }
}

void runtime_core::forward(actor_id to, message const& body) {
  outgoing const m{to, body};
  if (!devices_.has_device_of(to)) return not_forwarded(m, errc::actor_gone);
  devices_.mail_of(to).forward(m);
}

/// A message in transit cannot be delivered: notifies its asker, or makes it a dead letter.
void runtime_core::not_forwarded(outgoing const& m, errc why) {
  auto const& h = m.body.header;
  if ((h.flags & flag_wants_reply) == 0)
    return watched_.on_undelivered(m.to, h.type, m.body.payload, m.body.bytes, why);
  if ((h.reply_to.index & host_ask_bit) != 0) {
    asks_.complete(h.reply_to, why, nullptr);
    return;
  }
  forward(h.reply_to, rejection_of(h, why));
}

void runtime_core::send_or_bury(actor_id to, message_header const& header, std::byte const* payload,
                                std::uint32_t bytes) {
  auto const refused = devices_.has_device_of(to)
                           ? devices_.mail_of(to).try_post_apart(to, header, payload, bytes)
                           : errc::actor_gone;
  if (refused != errc::ok) watched_.on_undelivered(to, header.type, payload, bytes, refused);
}

void runtime_core::on_terminated(device_event const& r) {
  actor_totals totals;
  __builtin_memcpy(&totals, r.body.payload, sizeof totals);
  if (is_recorded(r.actor)) recording_->append(recorded_end{r.actor});
  watched_.on_terminated(r.actor, totals);
  actors_.remove(r.actor);
  requests_.on_terminated(r.actor);
  devices_.mail_of(r.actor).on_room(r.actor);
  control_.on_state(r.actor, lifecycle::terminated);
}

/// A traced or recorded message has completed.
void runtime_core::on_ended(device_event const& r) {
  if (replay_) return replay_->take(r);
  if (is_recorded(r.actor)) recording_->append(r);
  if ((r.body.header.flags & flag_traced) != 0) watched_.on_hop(r);
}

void runtime_core::on_device_lost(std::uint32_t device, device_event const& r) {
  if (r.actor.valid())
    watched_.report(fmt::format("the device was lost while {} ran actor '{}', in a handler of {}",
                                names_.of_team(device, r.team), names_.of_actor(r.actor),
                                names_.of_type(r.body.header.type)));
  if (r.detail != 0) return;  // another team's event follows
  auto const why = devices_[device].dev->why_lost();
  watched_.report(fmt::format("the device was lost: {}{}{}", make_error_code(r.reason).message(),
                              why.empty() ? "" : "; details: ", why));
  close(r.reason);
  end_pending(r.reason);
}

}  // namespace rondo
