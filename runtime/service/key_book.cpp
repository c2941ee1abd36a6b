#include "runtime/service/key_book.hpp"

#include <algorithm>
#include <iterator>

namespace rondo::service {

key_book::entry key_book::open(std::uint64_t session_id, std::uint64_t key, std::uint64_t settled_below,
                               key_waiter waiter, answer& outcome) {
  std::lock_guard lock(mutex_);
  auto* const found = heard_of(session_id, std::chrono::steady_clock::now());
  if (found == nullptr) return entry::full;
  auto& c = *found;
  c.settled_below = std::max(c.settled_below, settled_below);
  for (auto i = c.records.begin(); i != c.records.end() && i->first < c.settled_below;)
    i = i->second.done ? c.records.erase(i) : std::next(i);  // one that is on its way is erased when it ends
  if (key < c.settled_below) return entry::settled;
  auto const at = c.records.find(key);
  if (at == c.records.end()) {
    if (c.records.size() >= keys_per_session) return entry::full;
    c.records[key].waiters.push_back(std::move(waiter));
    ++c.pending;
    return entry::fresh;
  }
  if (!at->second.done) {
    // Those of connections that are gone would pile up.
    std::erase_if(at->second.waiters, [](key_waiter const& w) { return w.connection.expired(); });
    at->second.waiters.push_back(std::move(waiter));
    return entry::pending;
  }
  outcome = at->second.outcome;
  return entry::known;
}

std::vector<key_waiter> key_book::settle(std::uint64_t session_id, std::uint64_t key, answer const& outcome) {
  std::lock_guard lock(mutex_);
  auto& c = *by_session_.at(session_id);
  auto const at = c.records.find(key);
  auto waiters = std::move(at->second.waiters);
  --c.pending;
  if (key < c.settled_below) {
    c.records.erase(at);
  } else {
    at->second.waiters.clear();
    at->second.done = true;
    at->second.outcome = outcome;
  }
  return waiters;
}

void key_book::sweep(std::chrono::steady_clock::time_point now) {
  std::lock_guard lock(mutex_);
  while (!clients_.empty() && now - clients_.front().heard > forget_after) {
    if (auto const& oldest = clients_.front(); oldest.pending != 0) {
      heard_of(oldest.session_id, now);  // what is on its way will want its record
    } else {
      by_session_.erase(oldest.session_id);
      clients_.pop_front();
    }
  }
}

key_book::client* key_book::heard_of(std::uint64_t session_id, std::chrono::steady_clock::time_point now) {
  auto known = by_session_.find(session_id);
  if (known == by_session_.end()) {
    if (clients_.size() >= sessions_limit) return nullptr;
    clients_.emplace_back().session_id = session_id;
    known = by_session_.emplace(session_id, std::prev(clients_.end())).first;
  }
  clients_.splice(clients_.end(), clients_, known->second);
  known->second->heard = now;
  return &*known->second;
}

}  // namespace rondo::service
