// runtime::upgrade: the actors of one module go on as those of another.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/runtime_core.hpp"

namespace rondo {

namespace {

/// What becomes of each behaviour of `old`, by index.
std::vector<directory::succession> fates_of(program const& old, program const& next) {
  std::vector<directory::succession> fates(old.behaviours.size());
  for (std::size_t i = 0; i < fates.size(); ++i) {
    auto const name = old.behaviours[i].name;
    auto heir = std::ranges::find(next.behaviours, name, &behaviour_info::upgrades);
    bool const upgrades = heir != next.behaviours.end();
    if (!upgrades) heir = std::ranges::find(next.behaviours, name, &behaviour_info::name);
    if (heir == next.behaviours.end()) continue;
    fates[i] = {static_cast<std::uint16_t>(heir - next.behaviours.begin()), heir->state_bytes, upgrades};
  }
  return fates;
}

/// False for an actor that has ended, and whose host has not heard of it yet.
bool succeed(arena_ref const& arena, directory::successor const& s, program const& next) {
  actor_cell& cell = arena.cell(s.id.index);
  // Relaxed, all of it: a quiet point orders what owners wrote.
  if (cell.generation.load(memory_order::relaxed) != s.id.generation) return false;
  if (s.state != s.old_state)
    next.behaviours[s.behaviour].upgrade(arena.base() + s.state, arena.base() + s.old_state);
  cell.state_offset = s.state;
  cell.behaviour_index.store(s.behaviour, memory_order::relaxed);
  return true;
}

struct not_quiet {};

}  // namespace

/// device::upgrade for the devices from `first` on, each within the quiet point of the one before: all or none. False when
/// one of them came to no quiet point.
bool runtime_core::upgrade_devices(std::uint32_t first, program const& next,
                                   std::function<void(arena_ref const&)> const& use) {
  try {
    return devices_[first].dev->upgrade(
        std::chrono::milliseconds(settings_.stop_timeout_ms), next, directory_->heap_end(first),
        [&](arena_ref const& arena) {
          if (first + 1 < devices_.size() && !upgrade_devices(first + 1, next, use)) throw not_quiet{};
          use(arena);
        });
  } catch (not_quiet) {
    return false;
  }
}

void runtime_core::upgrade(program const& next) {
  auto const refuse = [](std::string const& why) {
    throw std::runtime_error("the module was not upgraded: " + why);
  };
  std::unique_lock launching(launching_);
  if (closed()) refuse(make_error_code(closed_for()).message());
  if (recorder_) refuse("a recording is going on, and belongs to one module; end it first");
  auto const& old = *program_.load(std::memory_order_acquire);
  std::vector<directory::successor> plan;
  auto const planned = directory_->plan_upgrade(fates_of(old, next), plan);
  if (planned == errc::not_found)
    refuse(fmt::format(
        "actor '{}' has the behaviour {}, which no behaviour of the new module has as its name or `upgrades`",
        name_of_actor(plan.back().id), old.behaviours[plan.back().old_behaviour].name));
  if (planned != errc::ok) refuse(make_error_code(planned).message());

  std::vector<bool> happened(plan.size(), false);
  for (auto const& s : plan)
    if (!can_live_on(next.behaviours[s.behaviour], device_of(s.id))) {
      directory_->finish_upgrade(plan, happened);
      refuse(fmt::format("actor '{}' would become a captured actor, and its device {} is no cpu",
                         name_of_actor(s.id), device_of(s.id)));
    }
  bool quiet = false;
  try {
    quiet = upgrade_devices(0, next, [&](arena_ref const& arena) {
      for (std::size_t i = 0; i < plan.size(); ++i)
        if (arena.has_cell(plan[i].id.index)) happened[i] = succeed(arena, plan[i], next);
    });
  } catch (std::exception const& e) {
    directory_->finish_upgrade(plan, std::vector<bool>(plan.size(), false));
    refuse(e.what());
  }
  directory_->finish_upgrade(plan, happened);
  if (!quiet) refuse(why_not_quiet());
  program_.store(&next, std::memory_order_release);
}

}  // namespace rondo
