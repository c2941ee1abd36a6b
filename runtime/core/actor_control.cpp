#include "runtime/core/actor_control.hpp"

#include <algorithm>

#include "runtime/messaging/deliver.hpp"

namespace rondo {

namespace {

constexpr bool changes_activity(control_bits bits) noexcept {
  return bits == control_activate || bits == control_deactivate;
}

}  // namespace

void actor_control::start(actor_id actor, control_bits bits, inspection_handler handler) {
  auto ended = errc::ok;
  bool sent = true;
  {
    // Registered first: the actor may answer before the signal returns.
    std::lock_guard lock(mutex_);
    ended = ended_;
    // Only one activation or deactivation of an actor is in flight. Its event says which state was reached, but not for
    // which request, so a second signal could be taken for completed and then change the actor later.
    sent = !changes_activity(bits) || std::ranges::none_of(requests_, [&](request const& r) {
      return r.actor == actor && changes_activity(r.awaited);
    });
    if (ended == errc::ok) requests_.push_back({actor, bits, std::move(handler), sent});
  }
  if (ended != errc::ok) return refuse(std::move(handler), ended);
  if (sent) send(actor, bits);
}

void actor_control::send(actor_id actor, control_bits bits) {
  auto const refused =
      actors_.find(actor) ? devices_.home_of(actor).dev->signal(actor, bits) : errc::actor_gone;
  if (refused == errc::ok) return;
  std::unique_lock lock(mutex_);
  auto const r = std::ranges::find_if(
      requests_, [&](request const& x) { return x.actor == actor && x.awaited == bits && x.sent; });
  if (r == requests_.end()) return;
  auto failed = std::move(r->handler);
  requests_.erase(r);
  lock.unlock();
  refuse(std::move(failed), refused);
  if (changes_activity(bits)) send_next(actor);
}

void actor_control::send_next(actor_id actor) {
  std::unique_lock lock(mutex_);
  auto const next =
      std::ranges::find_if(requests_, [&](request const& r) { return r.actor == actor && !r.sent; });
  if (next == requests_.end()) return;
  next->sent = true;
  auto const bits = next->awaited;
  lock.unlock();
  // Not here: this may be the device's own thread, which must not wait for room in the submission ring.
  boost::asio::post(context_, [this, actor, bits] { send(actor, bits); });
}

void actor_control::refuse(inspection_handler handler, errc reason) {
  deliver_later(context_.get_executor(), std::move(handler), inspection_outcome{reason, {}});
}

/// Precondition: the caller holds mutex_.
template <class Which>
actor_control::requests actor_control::take(Which which) {
  requests taken;
  for (auto next = requests_.begin(); next != requests_.end();)
    if (auto const r = next++; which(*r)) taken.splice(taken.end(), requests_, r);
  return taken;
}

void actor_control::on_state(actor_id actor, lifecycle state) {
  bool const gone = state == lifecycle::terminated;
  std::uint32_t const reached = state == lifecycle::active        ? control_activate
                                : state == lifecycle::deactivated ? control_deactivate
                                : gone                            ? ~0u
                                                                  : 0;
  std::unique_lock lock(mutex_);
  auto done = take(
      [&](request const& r) { return r.actor == actor && (r.awaited & reached) != 0 && (gone || r.sent); });
  lock.unlock();
  if (!gone && !done.empty()) send_next(actor);
  for (auto& r : done) {
    bool const ended = gone && (r.awaited & (control_drain | control_discard)) == 0;
    deliver(context_.get_executor(), std::move(r.handler),
            inspection_outcome{ended ? errc::actor_gone : errc::ok, {}});
  }
}

void actor_control::on_depths(device_event const& e) {
  depth_page page;
  __builtin_memcpy(&page, e.body.payload, sizeof page);
  inspection found;
  requests done;
  {
    std::lock_guard lock(mutex_);
    // Collected by cell, not by inspection: one report answers all, even an inspection that starts between two pages.
    auto& pages = depths_so_far_[e.actor.index];
    pages.insert(pages.end(), page.entries, page.entries + page.count);
    if (e.detail == 0) return;
    found.depths = std::move(pages);
    depths_so_far_.erase(e.actor.index);
    done = take([&](request const& r) { return r.actor == e.actor && r.awaited == control_inspect; });
  }
  for (auto& r : done) {
    // On the runtime's thread, because reading the counters queries the device, whose thread is calling this function.
    boost::asio::post(context_, [this, actor = e.actor, handler = std::move(r.handler), found]() mutable {
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
  requests pending;
  {
    std::lock_guard lock(mutex_);
    if (ended_ == errc::ok) ended_ = reason;
    pending.swap(requests_);
  }
  for (auto& r : pending) refuse(std::move(r.handler), reason);
}

}  // namespace rondo
