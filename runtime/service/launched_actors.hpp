// Which actors the clients of each peer have launched. The runtime's table of actors, and the memory of their states and
// mailboxes, are shared by all (quotas.hpp); limits.actors is a further limit for each peer. Actors of the configuration, of a
// checkpoint, or of the program belong to no peer.
//
// Threads: any; one mutex.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/runtime.hpp"
#include "runtime/service/net/quotas.hpp"

namespace rondo::service {

class launched_actors {
 public:
  /// Why `of` may not launch one more actor, which takes `bytes` on that device; empty: it may. `most`: limits.actors. Notes in
  /// `tables` how full that device is.
  std::string refusal(rondo::runtime const& rt, quotas& tables, quota_peer const& of, std::uint32_t device,
                      std::uint64_t bytes, std::size_t most);
  void add(rondo::runtime const& rt, quota_peer const& of, actor_id actor, std::uint64_t bytes);
  /// The actor has ended. Others are noticed when their peer needs the place.
  void forget(actor_id actor);

 private:
  using clock = std::chrono::steady_clock;
  struct share {
    quota_peer of;
    std::unordered_map<std::uint64_t, std::uint64_t> actors{};  // bytes, by id
    std::uint64_t bytes = 0;
    clock::time_point looked{};  // for those that have ended
  };
  static std::uint64_t key_of(actor_id a) noexcept { return std::uint64_t{a.index} << 32 | a.generation; }
  void forget_ended(rondo::runtime const& rt, share& s);

  std::mutex mutex_;
  std::unordered_map<quotas::peer const*, share> by_peer_;
  std::unordered_map<std::uint64_t, share*> owners_;  // by id
  std::size_t next_look_ = 64;                        // with so many peers, ended actors of all are forgotten
};

}  // namespace rondo::service
