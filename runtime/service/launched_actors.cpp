#include "runtime/service/launched_actors.hpp"

#include <fmt/format.h>

#include <vector>

namespace rondo::service {

std::string launched_actors::refusal(rondo::runtime const& rt, quotas& tables, quota_peer const& of,
                                     std::uint32_t device, std::uint64_t bytes, std::size_t most) {
  constexpr std::size_t few = 256;  // to look at each time
  constexpr std::chrono::milliseconds pause{250};
  if (device >= rt.device_count()) return {};  // the launch says so
  std::lock_guard lock(mutex_);
  auto const found = by_peer_.find(of.get());
  share none{of};
  auto& mine = found == by_peer_.end() ? none : found->second;
  auto const why = [&]() -> std::string {
    auto const room = rt.room(device);
    auto const is_full = [&](table t, std::uint64_t held, std::uint64_t all, std::uint64_t free,
                             std::uint64_t wanted) {
      tables.set_limit(t, all);
      tables.set_used(t, all - free);
      return !quotas::admits(of->who(), held, all - free, all, wanted);
    };
    if (mine.actors.size() >= most)
      return fmt::format("{} has reached its limit of {} live actors (limits.actors)", of->name(), most);
    if (is_full(table::actors, mine.actors.size(), room.actors, room.free_actors, 1))
      return fmt::format(
          "{} has launched {} of the {} actors that fit, {} are free, and nobody gets more than are free; "
          "terminate some, or raise runtime.actors",
          of->name(), mine.actors.size(), room.actors, room.free_actors);
    if (is_full(table::actor_bytes, mine.bytes, room.bytes, room.free_bytes, bytes))
      return fmt::format(
          "the actors of {} take {} of {} bytes, {} are free, and nobody gets more than are free; this one "
          "needs {}: give it a smaller mailbox, terminate some, or raise runtime.state_bytes",
          of->name(), mine.bytes, room.bytes, room.free_bytes, bytes);
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
  if (!text.empty()) tables.count_refusal(table::actors);
  return text;
}

void launched_actors::add(rondo::runtime const& rt, quota_peer const& of, actor_id actor,
                          std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  auto& mine = by_peer_.try_emplace(of.get(), share{of}).first->second;
  mine.actors.emplace(key_of(actor), bytes);
  mine.bytes += bytes;
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
    of.bytes -= at->second;
    of.actors.erase(at);
  }
  if (of.actors.empty()) by_peer_.erase(of.of.get());
}

/// Call it under the mutex.
void launched_actors::forget_ended(rondo::runtime const& rt, share& s) {
  std::erase_if(s.actors, [&](auto const& a) {
    if (rt.at({static_cast<std::uint32_t>(a.first >> 32), static_cast<std::uint32_t>(a.first)})) return false;
    s.bytes -= a.second;
    owners_.erase(a.first);
    return true;
  });
}

}  // namespace rondo::service
