// Counts the live actors that a service's clients have launched, by peer: all clients of one address or one user.
//
// Threads: the network thread.
#pragma once

#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/runtime.hpp"

namespace rondo::service {

class quotas {
 public:
  /// Whether `peer` has fewer than `most`.
  bool has_room(rondo::runtime const& rt, std::string const& peer, std::size_t most) {
    if (launched_.size() >= peers_between_looks)
      for (auto p = launched_.begin(); p != launched_.end();)
        p = forget_ended(rt, p->second) == 0 ? launched_.erase(p) : std::next(p);
    auto const of_peer = launched_.find(peer);
    return of_peer == launched_.end()
               ? most != 0
               : of_peer->second.size() < most || forget_ended(rt, of_peer->second) < most;
  }
  void add(std::string const& peer, actor_id actor) { launched_[peer].push_back(actor); }

 private:
  static constexpr std::size_t peers_between_looks = 1024;
  static std::size_t forget_ended(rondo::runtime const& rt, std::vector<actor_id>& all) {
    std::erase_if(all, [&](actor_id a) { return !rt.at(a); });
    return all.size();
  }

  std::unordered_map<std::string, std::vector<actor_id>> launched_;
};

}  // namespace rondo::service
