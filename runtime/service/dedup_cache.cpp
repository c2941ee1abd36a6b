#include "runtime/service/dedup_cache.hpp"

#include <algorithm>
#include <iterator>

namespace rondo::service {

dedup_cache::entry dedup_cache::open(std::uint64_t session_id, std::uint64_t key, std::uint64_t settled_below,
                                     std::string const& peer, key_waiter waiter, answer& outcome) {
  std::lock_guard lock(mutex_);
  auto why = entry::full;
  auto* const found = heard_of(session_id, peer, std::chrono::steady_clock::now(), why);
  if (found == nullptr) return why;
  auto& c = *found;
  c.settled_below = std::max(c.settled_below, settled_below);
  for (auto i = c.known.begin(); i != c.known.end() && i->first < c.settled_below;)
    i = i->second.done ? forget(c, i) : std::next(i);  // a pending one is erased when it is done
  if (key < c.settled_below) return entry::settled;
  auto const at = c.known.find(key);
  if (at == c.known.end()) {
    auto& of_peer = by_peer_[c.peer];
    if (c.known.size() >= keys_per_session) return entry::session_full;
    if (of_peer.keys >= keys_limit / 2) return entry::peer_full;
    if (keys_ >= keys_limit) return entry::full;
    c.known[key].waiters.push_back(std::move(waiter));
    ++c.pending, ++of_peer.keys, ++keys_;
    return entry::fresh;
  }
  if (!at->second.done) {
    // Waiters of closed connections would pile up.
    std::erase_if(at->second.waiters, [](key_waiter const& w) { return w.connection.expired(); });
    at->second.waiters.push_back(std::move(waiter));
    return entry::pending;
  }
  outcome = at->second.outcome;
  return entry::known;
}

void dedup_cache::note_ask(std::uint64_t session_id, std::uint64_t key, actor_id ask) {
  std::lock_guard lock(mutex_);
  auto const c = by_session_.find(session_id);
  if (c == by_session_.end()) return;
  if (auto const at = c->second->known.find(key); at != c->second->known.end() && !at->second.done)
    at->second.ask = ask;
}

std::vector<key_waiter> dedup_cache::settle(std::uint64_t session_id, std::uint64_t key,
                                            answer const& outcome) {
  std::lock_guard lock(mutex_);
  auto& c = *by_session_.at(session_id);
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
    if (auto const p = by_peer_.find(oldest.peer); --p->second.sessions == 0) by_peer_.erase(p);
    by_session_.erase(oldest.session_id);
    clients_.pop_front();
  }
  return given_up;
}

dedup_cache::client* dedup_cache::heard_of(std::uint64_t session_id, std::string const& peer,
                                           std::chrono::steady_clock::time_point now, entry& why) {
  auto known = by_session_.find(session_id);
  if (known == by_session_.end()) {
    auto const of_peer = by_peer_.find(peer);
    why = of_peer != by_peer_.end() && of_peer->second.sessions >= sessions_limit / 2 ? entry::peer_full
                                                                                      : entry::full;
    if (why == entry::peer_full || clients_.size() >= sessions_limit) return nullptr;
    auto& made = clients_.emplace_back();
    made.session_id = session_id;
    made.peer = peer;
    ++by_peer_[peer].sessions;
    known = by_session_.emplace(session_id, std::prev(clients_.end())).first;
  }
  clients_.splice(clients_.end(), clients_, known->second);
  known->second->heard = now;
  return &*known->second;
}

dedup_cache::records::iterator dedup_cache::forget(client& c, records::iterator at) {
  --by_peer_[c.peer].keys, --keys_;
  return c.known.erase(at);
}

}  // namespace rondo::service
