#include "runtime/service/dedup_cache.hpp"

#include <algorithm>
#include <iterator>

namespace rondo::service {

dedup_cache::entry dedup_cache::open(key_session const& who, std::uint64_t key, std::uint64_t settled_below,
                                     quota_peer const& peer, key_waiter waiter, answer& outcome) {
  std::lock_guard lock(mutex_);
  auto* const found = heard_of(who, peer, std::chrono::steady_clock::now());
  if (found == nullptr) return entry::no_session;
  auto& c = *found;
  // Those below the old bound were visited before: what is left of them is pending, and erased when it is done.
  auto const bound = std::max(c.settled_below, settled_below);
  for (auto i = c.known.lower_bound(c.settled_below); i != c.known.end() && i->first < bound;)
    i = i->second.done ? forget(c, i) : std::next(i);
  c.settled_below = bound;
  if (key < c.settled_below) return entry::settled;
  auto const at = c.known.find(key);
  if (at == c.known.end()) {
    if (c.known.size() >= keys_per_session) return entry::session_full;
    if (!c.peer->take(table::keys)) return entry::no_key;
    c.known[key].waiters.push_back(std::move(waiter));
    ++c.pending;
    return entry::fresh;
  }
  auto& r = at->second;
  if (!r.done) {
    // Waiters of closed connections would pile up. Looking at all of them each time would take N squared time.
    if (r.waiters.size() >= r.next_look) {
      std::erase_if(r.waiters, [](key_waiter const& w) { return w.connection.expired(); });
      r.next_look = 2 * r.waiters.size() + 16;
    }
    r.waiters.push_back(std::move(waiter));
    return entry::pending;
  }
  outcome = r.outcome;
  return entry::known;
}

void dedup_cache::withdraw(key_session const& who, std::uint64_t key) {
  std::lock_guard lock(mutex_);
  auto& c = *by_session_.at(who);
  forget(c, c.known.find(key));
  --c.pending;
}

void dedup_cache::note_ask(key_session const& who, std::uint64_t key, actor_id ask) {
  std::lock_guard lock(mutex_);
  auto const c = by_session_.find(who);
  if (c == by_session_.end()) return;
  if (auto const at = c->second->known.find(key); at != c->second->known.end() && !at->second.done)
    at->second.ask = ask;
}

std::vector<key_waiter> dedup_cache::settle(key_session const& who, std::uint64_t key,
                                            answer const& outcome) {
  std::lock_guard lock(mutex_);
  auto& c = *by_session_.at(who);
  auto const at = c.known.find(key);
  auto waiters = std::move(at->second.waiters);
  --c.pending;
  if (key < c.settled_below) {
    forget(c, at);
  } else {
    at->second.waiters.clear();
    at->second.done = true;
    at->second.outcome = outcome;
  }
  return waiters;
}

std::vector<actor_id> dedup_cache::sweep(std::chrono::steady_clock::time_point now) {
  std::lock_guard lock(mutex_);
  std::vector<actor_id> given_up;
  while (!clients_.empty() && now - clients_.front().heard > forget_after) {
    auto& oldest = clients_.front();
    if (oldest.pending != 0) {
      // Its records go once the asks have completed.
      for (auto const& [key, r] : oldest.known)
        if (!r.done && r.ask.valid()) given_up.push_back(r.ask);
      oldest.heard = now;
      clients_.splice(clients_.end(), clients_, clients_.begin());
      continue;
    }
    for (auto i = oldest.known.begin(); i != oldest.known.end();) i = forget(oldest, i);
    oldest.peer->give_back(table::key_sessions);
    by_session_.erase(oldest.who);
    clients_.pop_front();
  }
  return given_up;
}

dedup_cache::client* dedup_cache::heard_of(key_session const& who, quota_peer const& peer,
                                           std::chrono::steady_clock::time_point now) {
  auto known = by_session_.find(who);
  if (known == by_session_.end()) {
    if (!peer->take(table::key_sessions)) return nullptr;
    auto& made = clients_.emplace_back();
    made.who = who;
    made.peer = peer;
    known = by_session_.emplace(who, std::prev(clients_.end())).first;
  }
  clients_.splice(clients_.end(), clients_, known->second);
  known->second->heard = now;
  return &*known->second;
}

dedup_cache::records::iterator dedup_cache::forget(client& c, records::iterator at) {
  c.peer->give_back(table::keys);
  return c.known.erase(at);
}

}  // namespace rondo::service
