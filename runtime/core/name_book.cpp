#include "runtime/core/name_book.hpp"

#include <fmt/format.h>

namespace rondo {

std::string name_book::of_actor(actor_id id) const {
  auto const e = actors_.find(id);
  return e ? e->name : std::string();
}

std::string name_book::of_cell(std::uint32_t index) const {
  auto const name = actors_.name_in(index);
  return name.empty() ? fmt::format("#{}", index) : name;
}

std::string name_book::of_type(std::uint32_t type) const {
  for (auto const& b : behaviours())
    for (auto const& m : b.messages)
      if (m.id == type) return std::string(m.name);
  return {};
}

std::uint32_t name_book::bytes_of(std::uint32_t type) const {
  for (auto const& b : behaviours())
    for (auto const& m : b.messages)
      if (m.id == type) return m.bytes;
  return 0;
}

/// The index may be out of range: an event may come from the previous module.
std::string name_book::of_behaviour(std::uint32_t index) const {
  auto const& known = behaviours();
  return index < known.size() ? std::string(known[index].name) : std::string();
}

std::string name_book::of_team(std::uint32_t device, std::size_t team) const {
  return devices_.size() == 1
             ? fmt::format("team {}", team)
             : fmt::format("team {} of device {} ({})", team, device, devices_[device].dev->info().name);
}

std::string name_book::of_busy_team(std::uint32_t device, stuck_team const& t, char const* does) const {
  return fmt::format("{} {} actor '{}', in a handler of {}", of_team(device, t.team), does, of_cell(t.actor),
                     of_type(t.type));
}

std::vector<std::string> name_book::busy_teams(char const* does) const {
  std::vector<std::string> lines;
  for (std::uint32_t d = 0; d < devices_.size(); ++d) {
    std::vector<team_snapshot> teams;
    devices_[d].dev->read_teams(teams);
    for (std::uint32_t t = 0; t < teams.size(); ++t)
      if (teams[t].actor_plus_one != 0)
        lines.push_back(of_busy_team(d, {t, teams[t].actor_plus_one - 1, teams[t].type}, does));
  }
  return lines;
}

}  // namespace rondo
