#include "runtime/core/actor_control.hpp"

#include <algorithm>

#include "runtime/messaging/deliver.hpp"

namespace rondo {

namespace {

constexpr bool changes_activity(control_bits bits) noexcept {
  return bits == control_activate || bits == control_deactivate;
}

}  // namespace

// -- lifecycle

void actor_control::start(actor_id actor, control_bits bits, answer_handler handler) {
  auto ended = errc::ok;
  bool sent = true;
  {
    // Registered first: the actor may answer before the signal returns.
    std::lock_guard lock(mutex_);
    ended = ended_;
    // Only one activation or deactivation of an actor is in flight. Its event says which state was reached, but not for
    // which request, so a second signal could be taken for completed and then change the actor later.
    sent = !changes_activity(bits) || std::ranges::none_of(controls_, [&](pending_control const& p) {
      return p.actor == actor && changes_activity(p.awaited);
    });
    if (ended == errc::ok) controls_.push_back({actor, bits, std::move(handler), sent});
  }
  if (ended != errc::ok) return deliver_later(context_.get_executor(), std::move(handler), answer{ended, {}});
  if (sent) send(actor, bits);
}

errc actor_control::signal(actor_id actor, control_bits bits) {
  return actors_.find(actor) ? devices_.home_of(actor).dev->signal(actor, bits) : errc::actor_gone;
}

void actor_control::send(actor_id actor, control_bits bits) {
  auto const refused = signal(actor, bits);
  if (refused == errc::ok) return;
  {
    std::unique_lock lock(mutex_);
    auto const p = std::ranges::find_if(
        controls_, [&](pending_control const& x) { return x.actor == actor && x.awaited == bits && x.sent; });
    if (p == controls_.end()) return;
    auto failed = std::move(p->handler);
    controls_.erase(p);
    lock.unlock();
    deliver_later(context_.get_executor(), std::move(failed), answer{refused, {}});
  }
  if (changes_activity(bits)) send_next(actor);
}

void actor_control::send_next(actor_id actor) {
  std::unique_lock lock(mutex_);
  auto const next =
      std::ranges::find_if(controls_, [&](pending_control const& p) { return p.actor == actor && !p.sent; });
  if (next == controls_.end()) return;
  next->sent = true;
  auto const bits = next->awaited;
  lock.unlock();
  // Not here: this may be the device's own thread, which must not wait for room in the submission ring.
  boost::asio::post(context_, [this, actor, bits] { send(actor, bits); });
}

void actor_control::on_state(actor_id actor, lifecycle state) {
  std::uint32_t const reached = state == lifecycle::active        ? control_activate
                                : state == lifecycle::deactivated ? control_deactivate
                                : state == lifecycle::terminated  ? ~0u
                                                                  : 0;
  std::vector<std::pair<answer_handler, errc>> done;
  {
    std::lock_guard lock(mutex_);
    std::erase_if(controls_, [&](pending_control& p) {
      if (!(p.actor == actor) || (p.awaited & reached) == 0) return false;
      if (state != lifecycle::terminated && !p.sent) return false;
      bool const ended =
          state == lifecycle::terminated && (p.awaited & (control_drain | control_discard)) == 0;
      done.emplace_back(std::move(p.handler), ended ? errc::actor_gone : errc::ok);
      return true;
    });
  }
  if (state != lifecycle::terminated && !done.empty()) send_next(actor);
  for (auto& [handler, reason] : done)
    deliver(context_.get_executor(), std::move(handler), answer{reason, {}});
}

void actor_control::on_terminated(actor_id actor) {
  on_state(actor, lifecycle::terminated);
  std::unique_lock lock(mutex_);
  auto lost = take_inspections(actor);
  lock.unlock();
  for (auto& handler : lost)
    deliver(context_.get_executor(), std::move(handler), inspection_outcome{errc::actor_gone, {}});
}

// -- inspections

void actor_control::inspect(actor_id actor, inspection_handler handler) {
  auto ended = errc::ok;
  {
    std::lock_guard lock(mutex_);
    ended = ended_;
    if (ended == errc::ok) inspections_.push_back({actor, std::move(handler)});
  }
  if (ended != errc::ok)
    return deliver_later(context_.get_executor(), std::move(handler), inspection_outcome{ended, {}});
  auto const refused = signal(actor, control_inspect);
  if (refused == errc::ok) return;
  std::unique_lock lock(mutex_);
  auto const p =
      std::ranges::find_if(inspections_, [&](pending_inspection const& i) { return i.actor == actor; });
  if (p == inspections_.end()) return;
  auto failed = std::move(p->handler);
  inspections_.erase(p);
  lock.unlock();
  deliver_later(context_.get_executor(), std::move(failed), inspection_outcome{refused, {}});
}

/// Precondition: the caller holds mutex_.
std::vector<inspection_handler> actor_control::take_inspections(actor_id actor) {
  std::vector<inspection_handler> taken;
  std::erase_if(inspections_, [&](pending_inspection& p) {
    if (!(p.actor == actor)) return false;
    taken.push_back(std::move(p.handler));
    return true;
  });
  return taken;
}

void actor_control::on_depths(device_event const& r) {
  depth_page page;
  __builtin_memcpy(&page, r.body.payload, sizeof page);
  inspection found;
  std::vector<inspection_handler> done;
  {
    std::lock_guard lock(mutex_);
    // Collected by cell, not by inspection: one report answers all, even an inspection that starts between two pages.
    auto& pages = depths_so_far_[r.actor.index];
    pages.insert(pages.end(), page.entries, page.entries + page.count);
    if (r.detail == 0) return;
    found.depths = std::move(pages);
    depths_so_far_.erase(r.actor.index);
    done = take_inspections(r.actor);
  }
  for (auto& handler : done) {
    // On the runtime's thread, because reading the counters queries the device, whose thread is calling this function.
    boost::asio::post(context_, [this, actor = r.actor, handler = std::move(handler), found]() mutable {
      std::vector<actor_snapshot> actors;
      devices_.home_of(actor).dev->read_actors(cell_of(actor), 1, actors);
      bool const lives = !actors.empty() && actors.front().generation == actor.generation;
      if (lives) found.now = actors.front();
      deliver(context_.get_executor(), std::move(handler),
              inspection_outcome{lives ? errc::ok : errc::actor_gone, std::move(found)});
    });
  }
}

void actor_control::end(errc reason) {
  std::list<pending_control> controls;
  std::list<pending_inspection> inspections;
  {
    std::lock_guard lock(mutex_);
    if (ended_ == errc::ok) ended_ = reason;
    controls.splice(controls.end(), controls_);
    inspections.splice(inspections.end(), inspections_);
  }
  for (auto& p : controls) deliver_later(context_.get_executor(), std::move(p.handler), answer{reason, {}});
  for (auto& p : inspections)
    deliver_later(context_.get_executor(), std::move(p.handler), inspection_outcome{reason, {}});
}

}  // namespace rondo
