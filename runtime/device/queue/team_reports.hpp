// Reports of the host about the teams of a grid that was lost, or that does not end.
#pragma once

#include <vector>

#include "kernels/grid/grid.hpp"
#include "runtime/base/device_report.hpp"

namespace rondo {

/// One `device_lost` event per team: what it ran at the keeper's last look. Teams for pinned actors, which come after
/// the pool's, count only if they serve one.
inline std::vector<device_event> loss_of_teams(team_report const* reports, std::uint32_t teams,
                                               std::uint32_t pool_teams) {
  std::vector<device_event> events;
  for (std::uint32_t t = 0; t < teams; ++t) {
    auto const s = reports[t].read();
    if (t >= pool_teams && !s.pinned) continue;
    device_event r{.kind = event_kind::device_lost, .reason = errc::device_lost, .team = t};
    if (s.actor_plus_one != 0) {
      r.actor = {s.actor_plus_one - 1, s.generation};
      r.behaviour = s.behaviour;
      r.body.header.type = s.type;
    }
    events.push_back(r);
  }
  for (std::size_t i = 0; i < events.size(); ++i) events[i].detail = events.size() - 1 - i;
  return events;
}

/// The teams that are in a handler.
inline std::vector<stuck_team> stuck_teams(std::vector<team_snapshot> const& teams) {
  std::vector<stuck_team> stuck;
  for (std::uint32_t t = 0; t < teams.size(); ++t)
    if (teams[t].actor_plus_one != 0) stuck.push_back({t, teams[t].actor_plus_one - 1, teams[t].type});
  return stuck;
}

}  // namespace rondo
