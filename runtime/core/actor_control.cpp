#include "runtime/core/actor_control.hpp"

#include <algorithm>

#include "runtime/messaging/deliver.hpp"

namespace rondo {

namespace {

constexpr auto any_change =
    static_cast<control_bits>(std::uint32_t{control_activate} | std::uint32_t{control_deactivate});

}  // namespace

actor_control::kind actor_control::kind_of(actor_id actor, control_bits bits) noexcept {
  return {actor, (bits & any_change) != 0 ? any_change : bits};
}

void actor_control::start(actor_id actor, control_bits bits, inspection_handler handler) {
  auto ended = errc::ok;
  bool send_now = true;
  {
    // Registered first: the actor may answer before the signal returns.
    std::lock_guard lock(mutex_);
    ended = ended_;
    if (ended == errc::ok) {
      auto const of = kind_of(actor, bits);
      auto& all = requests_[of];
      send_now = of.second != any_change || all.empty();
      all.push_back({bits, std::move(handler)});
    }
  }
  if (ended != errc::ok) return refuse(std::move(handler), ended);
  if (send_now) send(actor, bits);
}

void actor_control::send(actor_id actor, control_bits bits) {
  auto const refused =
      actors_.behaviour_of(actor) ? devices_.home_of(actor).dev->signal(actor, bits) : errc::actor_gone;
  if (refused == errc::ok) return;
  std::unique_lock lock(mutex_);
  auto const at = requests_.find(kind_of(actor, bits));
  if (at == requests_.end() || at->second.front().awaited != bits) return;
  auto failed = std::move(at->second.front().handler);
  at->second.pop_front();
  if (at->second.empty())
    requests_.erase(at);
  else if (at->first.second == any_change)
    send_next(at->first);
  lock.unlock();
  refuse(std::move(failed), refused);
}

/// Sends the first of these changes. Precondition: the caller holds mutex_, there is one, and none is in flight.
void actor_control::send_next(kind changes) {
  // Not here: this may be the device's own thread, which must not wait for room in the submission ring.
  boost::asio::post(context_, [this, actor = changes.first, bits = requests_.at(changes).front().awaited] {
    send(actor, bits);
  });
}

void actor_control::refuse(inspection_handler handler, errc reason) {
  deliver_later(context_.get_executor(), std::move(handler), inspection_outcome{reason, {}});
}

/// Precondition: the caller holds mutex_.
actor_control::requests actor_control::take_all(kind of) {
  auto taken = requests_.extract(of);
  return taken ? std::move(taken.mapped()) : requests{};
}

void actor_control::on_state(actor_id actor, lifecycle state) {
  bool const gone = state == lifecycle::terminated;
  auto const reached = state == lifecycle::active        ? control_activate
                       : state == lifecycle::deactivated ? control_deactivate
                                                         : control_bits{};
  requests done;
  {
    std::lock_guard lock(mutex_);
    if (gone) {
      for (auto const bits : {any_change, control_inspect, control_drain, control_discard})
        done.splice(done.end(), take_all({actor, bits}));
    } else if (auto const at = requests_.find({actor, any_change});
               at != requests_.end() && at->second.front().awaited == reached) {
      done.splice(done.end(), at->second, at->second.begin());
      if (at->second.empty())
        requests_.erase(at);
      else
        send_next(at->first);
    }
  }
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
    done = take_all({e.actor, control_inspect});
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
  std::map<kind, requests> pending;
  {
    std::lock_guard lock(mutex_);
    if (ended_ == errc::ok) ended_ = reason;
    pending.swap(requests_);
  }
  for (auto& [of, all] : pending)
    for (auto& r : all) refuse(std::move(r.handler), reason);
}

}  // namespace rondo
