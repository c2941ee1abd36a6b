#include "runtime/service/launched_actors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace rondo::service {

launched_actors::needs launched_actors::needs_of(rondo::runtime const& rt, std::string_view behaviour,
                                                 actor_options const& options) {
  needs n{.device = options.device, .team = options.pinned};
  if (options.device >= rt.device_count()) return n;
  n.bytes = rt.bytes_of_actor(behaviour, options);
  n.ring = options.capacity.value_or(rt.settings().default_capacity) <= rt.room(options.device).ring_slots;
  return n;
}

std::string launched_actors::refusal(rondo::runtime const& rt, quotas& tables, quota_peer const& of,
                                     needs const& wanted, std::size_t most) {
  constexpr std::size_t few = 256;  // to look at each time
  constexpr std::chrono::milliseconds pause{250};
  if (wanted.device >= rt.device_count()) return {};  // the launch says so
  std::lock_guard lock(mutex_);
  auto const found = by_peer_.find(of.get());
  share none{of};
  auto& mine = found == by_peer_.end() ? none : found->second;
  auto which = table::actors;  // that is full
  auto const why = [&]() -> std::string {
    auto const room = rt.room(wanted.device);
    auto const is_full = [&](table t, std::uint64_t held, std::uint64_t all, std::uint64_t free,
                             std::uint64_t more) {
      which = t;
      tables.set_limit(t, all);
      tables.set_used(t, all - free);
      return !quotas::admits(of->who(), held, all - free, all, more);
    };
    if (mine.actors.size() >= most)
      return fmt::format("{} has reached its limit of {} live actors (limits.actors)", of->name(), most);
    if (is_full(table::actors, mine.actors.size(), room.actors, room.free_actors, 1))
      return fmt::format(
          "{} has launched {} of the {} actors that fit, {} are free, and nobody gets more than are free; "
          "terminate some, or raise runtime.actors",
          of->name(), mine.actors.size(), room.actors, room.free_actors);
    if (is_full(table::actor_bytes, mine.bytes, room.bytes, room.free_bytes, wanted.bytes))
      return fmt::format(
          "the actors of {} take {} of {} bytes, {} are free, and nobody gets more than are free; this one "
          "needs {}: give it a smaller mailbox, terminate some, or raise runtime.state_bytes",
          of->name(), mine.bytes, room.bytes, room.free_bytes, wanted.bytes);
    if (wanted.team && is_full(table::pinned_teams, mine.teams, room.pinned_teams, room.free_pinned_teams, 1))
      return fmt::format(
          "{} has launched {} of the {} pinned actors that fit, {} are free, and nobody gets more than are "
          "free; terminate some, do without `pinned`, or raise runtime.pinned_teams",
          of->name(), mine.teams, room.pinned_teams, room.free_pinned_teams);
    // The owner may have more actors than rings. Half of the rings is for actors that no client has launched.
    auto const alive = room.actors - room.free_actors;
    auto const own =
        std::min<std::uint64_t>(alive - std::min<std::uint64_t>(alive, owners_.size()), room.rings / 2);
    auto const rings = std::min(tables.read(table::mail_rings).used + own, room.rings);
    if (wanted.ring && room.rings < room.actors && of->who() != standing::owns &&
        !quotas::admits(of->who(), of->held(table::mail_rings), rings, room.rings)) {
      which = table::mail_rings;
      return fmt::format(
          "{} has launched {} actors that share {} mail rings, {} are left, and nobody gets more than are "
          "left; terminate some, or raise runtime.mail_blocks",
          of->name(), of->held(table::mail_rings), room.rings, room.rings - rings);
    }
    return {};
  };
  auto text = why();
  if (text.empty()) return text;
  auto const now = clock::now();
  if (!mine.actors.empty() && (mine.actors.size() <= few || now - mine.looked >= pause)) {
    mine.looked = now;
    forget_ended(rt, mine);
    text = why();
  }
  if (!text.empty()) tables.count_refusal(which);
  return text;
}

void launched_actors::add(rondo::runtime const& rt, quota_peer const& of, actor_id actor, needs const& has) {
  std::lock_guard lock(mutex_);
  auto& mine = by_peer_.try_emplace(of.get(), share{of}).first->second;
  mine.actors.emplace(key_of(actor), has);
  mine.bytes += has.bytes;
  mine.teams += has.team;
  of->add(table::mail_rings, has.ring);
  owners_.insert_or_assign(key_of(actor), &mine);
  if (by_peer_.size() < next_look_) return;
  for (auto& [peer, s] : by_peer_) forget_ended(rt, s);
  std::erase_if(by_peer_, [](auto const& s) { return s.second.actors.empty(); });
  next_look_ = 2 * by_peer_.size() + 64;
}

void launched_actors::forget(actor_id actor) {
  std::lock_guard lock(mutex_);
  auto const owner = owners_.find(key_of(actor));
  if (owner == owners_.end()) return;
  auto& of = *owner->second;
  owners_.erase(owner);
  if (auto const at = of.actors.find(key_of(actor)); at != of.actors.end()) {
    give_back(of, at->second);
    of.actors.erase(at);
  }
  if (of.actors.empty()) by_peer_.erase(of.of.get());
}

/// Call it under the mutex.
void launched_actors::give_back(share& s, needs const& had) noexcept {
  s.bytes -= had.bytes;
  s.teams -= had.team;
  s.of->give_back(table::mail_rings, had.ring);
}

/// Call it under the mutex.
void launched_actors::forget_ended(rondo::runtime const& rt, share& s) {
  std::erase_if(s.actors, [&](auto const& a) {
    if (rt.at({static_cast<std::uint32_t>(a.first >> 32), static_cast<std::uint32_t>(a.first)})) return false;
    give_back(s, a.second);
    owners_.erase(a.first);
    return true;
  });
}

}  // namespace rondo::service
