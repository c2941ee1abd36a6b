// What the runtime makes of the records that its device reports.
#include <fmt/format.h>

#include "runtime/deliver.hpp"
#include "runtime/runtime_core.hpp"

namespace rondo {

void runtime_core::on_record(std::uint32_t device, host_record const& r) {
  switch (r.kind) {
    case record_kind::reply:
      return;  // dealt with before
    case record_kind::dead_letter:
      undelivered(r.actor, r.body.header.type, r.body.payload, r.body.bytes, r.reason);
      return;
    case record_kind::actor_failed:
      return on_failure(r);
    case record_kind::terminated:
      return on_terminated(r);
    case record_kind::state_changed:
      return settle(r.actor, static_cast<lifecycle>(r.detail));
    case record_kind::room:
      return mail_of(r.actor).on_room(r.actor);
    case record_kind::forward:
      return forward(r.actor, r.body);
    case record_kind::send_later:
      return timers_->once(std::chrono::microseconds(r.detail), [this, to = r.actor, body = r.body] {
        auto const refused = device_of(to) < devices_.size()
                                 ? mail_of(to).try_post_apart(to, body.header, body.payload, body.bytes)
                                 : errc::actor_gone;
        if (refused != errc::ok) undelivered(to, body.header.type, body.payload, body.bytes, refused);
      });
    case record_kind::depths:
      return on_depths(r);
    case record_kind::buffer_free:
      return devices_[device].buffers->on_free_at_home(static_cast<std::uint32_t>(r.detail));
    case record_kind::handled:
    case record_kind::not_handled:
      return on_ended(r);
    case record_kind::device_lost:
      return on_device_lost(device, r);
  }
}

/// Carries a message from one device to another.
void runtime_core::forward(actor_id to, message const& body) {
  outgoing const m{to, body};
  if (device_of(to) >= devices_.size()) return not_forwarded(m, errc::actor_gone);
  mail_of(to).forward(m);
}

/// A message that was on its way cannot be delivered: its asker hears of it, else it is a dead letter.
void runtime_core::not_forwarded(outgoing const& m, errc why) {
  auto const& h = m.body.header;
  if ((h.flags & flag_wants_reply) == 0) return undelivered(m.to, h.type, m.body.payload, m.body.bytes, why);
  if ((h.reply_to.index & host_ask_bit) != 0) {
    asks_->complete(h.reply_to, why, nullptr);
    return;
  }
  message answer;
  answer.header.type = type_id<rejected>;
  answer.header.correlation = h.correlation;
  answer.header.flags = flag_is_reply;
  rejected const body{why, h.type};
  answer.bytes = sizeof body;
  __builtin_memcpy(answer.payload, &body, sizeof body);
  forward(h.reply_to, answer);
}

void runtime_core::undelivered(actor_id to, std::uint32_t type, void const* payload, std::uint32_t bytes,
                               error_code why) {
  dead_letter_count_.fetch_add(1, memory_order::relaxed);  // relaxed: a statistic
  if (!dead_letters_->has_subscribers()) return;
  dead_letter letter{to, name_of_actor(to), static_cast<errc>(why.value()), name_of_type(type), {}};
  letter.body.header.type = type;
  letter.body.bytes = bytes;
  __builtin_memcpy(letter.body.payload, payload, bytes);
  dead_letters_->publish(std::move(letter));
}

void runtime_core::settle(actor_id actor, lifecycle state) {
  std::uint32_t const reached = state == lifecycle::active        ? control_activate
                                : state == lifecycle::deactivated ? control_deactivate
                                : state == lifecycle::terminated  ? ~0u
                                                                  : 0;
  std::vector<std::pair<answer_handler, errc>> done;
  {
    std::lock_guard lock(pending_mutex_);
    std::erase_if(pending_controls_, [&](pending_control& p) {
      if (!(p.actor == actor) || (p.awaited & reached) == 0) return false;
      if (state != lifecycle::terminated && !p.sent) return false;
      bool const ended =
          state == lifecycle::terminated && (p.awaited & (control_drain | control_discard)) == 0;
      done.emplace_back(std::move(p.handler), ended ? errc::actor_gone : errc::ok);
      return true;
    });
  }
  if (state != lifecycle::terminated && !done.empty()) send_next_control(actor);
  for (auto& [handler, reason] : done) deliver(executor(), std::move(handler), answer{reason, {}});
}

void runtime_core::on_terminated(host_record const& r) {
  actor_totals totals;
  __builtin_memcpy(&totals, r.body.payload, sizeof totals);
  if (recorder_) recorder_->append(recorded_end{r.actor});
  std::vector<inspection_handler> lost;
  {
    std::lock_guard lock(pending_mutex_);
    retired_ += totals;
    std::erase_if(pending_inspections_, [&](pending_inspection& p) {
      if (!(p.actor == r.actor)) return false;
      lost.push_back(std::move(p.handler));
      return true;
    });
  }
  directory_->remove(r.actor);
  last_failures_.forget(r.actor);
  mail_of(r.actor).on_room(r.actor);
  settle(r.actor, lifecycle::terminated);
  for (auto& handler : lost)
    deliver(executor(), std::move(handler), inspection_outcome{errc::actor_gone, {}});
}

void runtime_core::on_failure(host_record const& r) {
  static constexpr char const* actions[] = {"restarted", "its message was quarantined", "stopped",
                                            "escalated"};
  auto const action = static_cast<failure_action>(r.detail);
  last_failures_.note(r.actor, {r.reason, action, r.body.header.type, now_ns()});
  failures_->publish(fmt::format("actor '{}' ({}) failed: {}; {}", name_of_actor(r.actor),
                                 name_of_behaviour(r.behaviour), make_error_code(r.reason).message(),
                                 actions[r.detail]));
  if (action == failure_action::escalated) close(errc::handler_failed);
}

/// A message has ended that is traced, or recorded.
void runtime_core::on_ended(host_record const& r) {
  if (replayer_ != nullptr) return replayer_->take(r);
  if (recorder_) recorder_->append(r);
  auto const& h = r.body.header;
  if ((h.flags & flag_traced) == 0) return;
  auto const tag = tag_behind(r.body.payload);
  bool const handled = r.kind == record_kind::handled;
  traces_->note({.trace = tag.trace,
                 .hop = tag.hop,
                 .parent = tag.parent,
                 .handled = handled,
                 .actor = r.actor,
                 .actor_name = name_of_actor(r.actor),
                 .team = r.team,
                 .type = h.type,
                 .priority = h.priority,
                 .attempt = static_cast<std::uint8_t>(h.attempts()),
                 .outcome = r.reason,
                 .sent_ns = r.detail - h.age_ns(r.detail),
                 // Of a batch the first message alone knows.
                 .begun_ns = handled && tag.begun_ns != 0 ? tag.begun_ns : r.detail,
                 .ended_ns = r.detail});
}

std::vector<trace_hop> runtime_core::traces(std::uint64_t trace) const {
  auto hops = traces_->read(trace);
  for (auto& h : hops) {
    h.message = name_of_type(h.type);
    if (h.actor_name.empty()) h.actor_name = name_of_actor(h.actor);
  }
  return hops;
}

void runtime_core::on_depths(host_record const& r) {
  depth_page page;
  __builtin_memcpy(&page, r.body.payload, sizeof page);
  inspection found;
  std::vector<inspection_handler> done;
  {
    std::lock_guard lock(pending_mutex_);
    // Kept by cell, not by inspection: one report answers all, also one that asks between two of its pages.
    auto& pages = depths_so_far_[r.actor.index];
    pages.insert(pages.end(), page.entries, page.entries + page.count);
    if (r.detail == 0) return;
    found.depths = std::move(pages);
    depths_so_far_.erase(r.actor.index);
    std::erase_if(pending_inspections_, [&](pending_inspection& p) {
      if (!(p.actor == r.actor)) return false;
      done.push_back(std::move(p.handler));
      return true;
    });
  }
  for (auto& handler : done) {
    // On the runtime's thread: reading the counters asks the device, which is reporting to us just now.
    boost::asio::post(context_, [this, actor = r.actor, handler = std::move(handler), found]() mutable {
      std::vector<actor_snapshot> actors;
      devices_[device_of(actor)].dev->read_actors(cell_of(actor) + 1, actors);
      if (!actors.empty() && actors.back().index == actor.index) found.now = actors.back();
      deliver(executor(), std::move(handler), inspection_outcome{errc::ok, std::move(found)});
    });
  }
}

void runtime_core::on_device_lost(std::uint32_t device, host_record const& r) {
  if (r.actor.valid())
    failures_->publish(fmt::format("the device was lost while {} ran actor '{}', in a handler of {}",
                                   name_of_team(device, r.team), name_of_actor(r.actor),
                                   name_of_type(r.body.header.type)));
  if (r.detail != 0) return;  // another team's record follows
  auto const why = devices_[device].dev->why_lost();
  failures_->publish(fmt::format("the device was lost: {}{}{}", make_error_code(r.reason).message(),
                                 why.empty() ? "" : "; it says: ", why));
  close(r.reason);
  end_pending(r.reason);
}

}  // namespace rondo
