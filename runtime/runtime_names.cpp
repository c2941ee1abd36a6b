// What actors, messages, behaviours and teams are called, for people.
#include <fmt/format.h>

#include "runtime/runtime_core.hpp"

namespace rondo {

result<actor_id> runtime_core::find(std::string_view name, std::string_view behaviour) const {
  auto const found = directory_->find(name);
  if (!found || behaviours()[found->behaviour].name != behaviour) return errc::not_found;
  return found->id;
}

result<any_ref> runtime_core::find_any(std::string_view name) const {
  auto const found = directory_->find(name);
  if (!found) return errc::not_found;
  return any_ref{mail_of(found->id), found->id, behaviours()[found->behaviour]};
}

result<listed_actor> runtime_core::listed(actor_id actor) const {
  auto found = device_of(actor) < devices_.size() ? directory_->find(actor) : std::nullopt;
  if (!found) return errc::actor_gone;
  return std::move(*found);
}

result<any_ref> runtime_core::at(actor_id actor) const {
  auto const behaviour = directory_->behaviour_of(actor);
  if (!behaviour) return errc::actor_gone;
  return any_ref{mail_of(actor), actor, behaviours()[*behaviour]};
}

std::string runtime_core::name_of_actor(actor_id id) const {
  auto const e = directory_->find(id);
  return e ? e->name : std::string();
}

std::string runtime_core::name_of_index(std::uint32_t index) const {
  for (auto const& e : directory_->list())
    if (e.id.index == index) return e.name.empty() ? fmt::format("#{}", index) : e.name;
  return fmt::format("#{}", index);
}

std::string runtime_core::name_of_type(std::uint32_t type) const {
  for (auto const& b : behaviours())
    for (auto const& m : b.messages)
      if (m.id == type) return std::string(m.name);
  return {};
}

/// A record may be of the module before.
std::string runtime_core::name_of_behaviour(std::uint32_t index) const {
  auto const& known = behaviours();
  return index < known.size() ? std::string(known[index].name) : std::string();
}

std::string runtime_core::name_of_team(std::uint32_t device, std::size_t team) const {
  return devices_.size() == 1
             ? fmt::format("team {}", team)
             : fmt::format("team {} of device {} ({})", team, device, devices_[device].dev->info().name);
}

std::vector<std::string> runtime_core::busy_teams(char const* does) const {
  std::vector<std::string> lines;
  for (std::uint32_t d = 0; d < devices_.size(); ++d) {
    std::vector<team_snapshot> teams;
    devices_[d].dev->read_teams(teams);
    for (std::size_t t = 0; t < teams.size(); ++t)
      if (teams[t].actor_plus_one != 0)
        lines.push_back(fmt::format("{} {} actor '{}', in a handler of {}", name_of_team(d, t), does,
                                    name_of_index(teams[t].actor_plus_one - 1), name_of_type(teams[t].type)));
  }
  return lines;
}

}  // namespace rondo
