// The actors that the clients of each peer have launched. The runtime's table of actors, the memory of their states and
// mailboxes, the teams for pinned actors and the shared mail rings are shared by all (quotas.hpp); limits.actors is a
// further limit for each peer. Actors of the configuration, of a checkpoint, or of the program belong to no peer.
//
// Which actor holds a mail ring changes with each message, so every launched actor that may need one counts as if it
// held it.
//
// Threads: any; one mutex.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/runtime.hpp"
#include "runtime/service/net/quotas.hpp"

namespace rondo::service {

class launched_actors {
 public:
  /// What one actor takes.
  struct needs {
    std::uint32_t device = 0;
    std::uint64_t bytes = 0;
    bool team = false;  // it is pinned
    bool ring = false;  // it has no mail ring of its own
  };
  /// Of an actor of that behaviour. The options may be wrong; the launch says so.
  static needs needs_of(rondo::runtime const& rt, std::string_view behaviour, actor_options const& options);

  /// Why `of` may not launch one more actor; empty: it may. `most`: limits.actors. Notes in `tables` how full that
  /// device is.
  std::string refusal(rondo::runtime const& rt, quotas& tables, quota_peer const& of, needs const& wanted,
                      std::size_t most);
  void add(rondo::runtime const& rt, quota_peer const& of, actor_id actor, needs const& has);
  /// The actor has ended. Others are noticed when their peer needs the place.
  void forget(actor_id actor);

 private:
  using clock = std::chrono::steady_clock;
  struct share {
    quota_peer of;
    std::unordered_map<std::uint64_t, needs> actors{};  // by id
    std::uint64_t bytes = 0, teams = 0;
    clock::time_point looked{};  // for those that have ended
  };
  static std::uint64_t key_of(actor_id a) noexcept { return std::uint64_t{a.index} << 32 | a.generation; }
  static void give_back(share& s, needs const& had) noexcept;
  void forget_ended(rondo::runtime const& rt, share& s);

  std::mutex mutex_;
  std::unordered_map<quotas::peer const*, share> by_peer_;
  std::unordered_map<std::uint64_t, share*> owners_;  // by id
  std::size_t next_look_ = 64;                        // with so many peers, ended actors of all are forgotten
};

}  // namespace rondo::service
