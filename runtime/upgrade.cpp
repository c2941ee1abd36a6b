#include "runtime/upgrade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/core/runtime_core.hpp"

namespace rondo {

namespace {

/// The successor of each behaviour of `old`, by index.
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

/// Applies the plan to one actor. False if the actor has terminated and the host does not know it yet.
bool succeed(arena_ref const& arena, directory::successor const& s, program const& next) {
  actor_cell& cell = arena.cell(s.id.index);
  // Relaxed, all loads: the safepoint orders what owners wrote.
  if (cell.generation.load(memory_order::relaxed) != s.id.generation) return false;
  if (s.state != s.old_state)
    next.behaviours[s.behaviour].upgrade(arena.base() + s.state, arena.base() + s.old_state);
  cell.state_offset = s.state;
  cell.behaviour_index.store(s.behaviour, memory_order::relaxed);
  return true;
}

/// The actor's next owner constructs a fresh state. False if the actor has terminated.
bool begin_again(arena_ref const& arena, directory::successor const& s, behaviour_info const& old,
                 behaviour_info const& next) {
  actor_cell& cell = arena.cell(s.id.index);
  // Relaxed, all of them: as in `succeed`.
  if (cell.generation.load(memory_order::relaxed) != s.id.generation) return false;
  if (s.state != s.old_state)
    std::memcpy(arena.base() + s.state + next.arguments_at, arena.base() + s.old_state + old.arguments_at,
                next.arguments.size());
  cell.state_offset = s.state;
  cell.behaviour_index.store(s.behaviour, memory_order::relaxed);
  arena.owner(cell).control.fetch_or(control_construct, memory_order::relaxed);
  return true;
}

/// Why no module or behaviour can change now; empty: it can.
std::string why_not_now(runtime_core const& core) {
  if (core.closed()) return make_error_code(core.closed_for()).message();
  if (core.blocks_safepoint()) return core.why_no_safepoint();
  if (core.recording()) return "a recording is in progress and belongs to one module; end it first";
  return {};
}

}  // namespace

void detail::begin_again(runtime& rt, std::span<actor_id const> actors, std::string_view behaviour,
                         std::function<std::string()> const& also) {
  auto& core = rt.core();
  std::unique_lock const held(core.launching());
  auto const& module = core.running();
  auto const next = std::ranges::find(module.behaviours, behaviour, &behaviour_info::name);
  std::string why = next != module.behaviours.end()
                        ? why_not_now(core)
                        : fmt::format("the runtime's module has no behaviour {}", behaviour);
  if (!why.empty()) throw std::runtime_error(why);
  auto const index = static_cast<std::uint16_t>(next - module.behaviours.begin());
  bool const moves = std::ranges::any_of(
      actors, [&](actor_id id) { return core.actors().behaviour_of(id).value_or(index) != index; });
  std::vector<directory::successor> plan;
  if (auto const planned = core.actors().plan_change(actors, {index, next->state_bytes, moves}, plan);
      planned != errc::ok)
    throw std::runtime_error(make_error_code(planned).message());

  std::vector<bool> happened(plan.size(), false);
  auto const change = [&](arena_ref const& arena) {
    why = also();
    for (std::size_t i = 0; i < plan.size() && why.empty(); ++i)
      happened[i] = rondo::begin_again(arena, plan[i], module.behaviours[plan[i].old_behaviour], *next);
  };
  auto const place = device_of(actors.front());
  auto& device = *core.devices()[place].dev;
  auto const limit = std::chrono::milliseconds(core.settings().stop_timeout_ms);
  bool quiet = false;
  try {  // with more memory, as for another module
    quiet = moves ? device.upgrade(limit, module, core.actors().heap_end(place), change)
                  : device.at_safepoint(limit, arena_access::writes, change);
  } catch (std::exception const& e) {
    why = e.what();
  }
  core.actors().finish_upgrade(plan, happened);
  if (!quiet && why.empty()) why = core.why_no_safepoint();
  if (!why.empty()) throw std::runtime_error(why);
  for (std::size_t i = 0; i < plan.size(); ++i)  // they may be idle
    if (happened[i]) static_cast<void>(device.signal(plan[i].id, 0));
}

void detail::upgrade(runtime& rt, program const& next) {
  auto& core = rt.core();
  auto const refuse = [](std::string const& why) {
    throw std::runtime_error("the module was not upgraded: " + why);
  };
  std::unique_lock const held(core.launching());
  if (auto const why = why_not_now(core); !why.empty()) refuse(why);
  auto const& old = core.running();
  std::vector<directory::successor> plan;
  auto const planned = core.actors().plan_upgrade(fates_of(old, next), plan);
  if (planned == errc::not_found)
    refuse(fmt::format(
        "actor '{}' has the behaviour {}, which is neither the name nor the `upgrades` of a new behaviour",
        core.names().of_actor(plan.back().id), old.behaviours[plan.back().old_behaviour].name));
  if (planned != errc::ok) refuse(make_error_code(planned).message());

  std::vector<bool> happened(plan.size(), false);
  for (auto const& s : plan)
    if (!core.devices().can_host(next.behaviours[s.behaviour], device_of(s.id))) {
      core.actors().finish_upgrade(plan, happened);
      refuse(fmt::format("actor '{}' would become a captured actor, but its device {} is not a cpu device",
                         core.names().of_actor(s.id), device_of(s.id)));
    }
  bool quiet = false;
  try {
    quiet = core.devices().upgrade(
        std::chrono::milliseconds(core.settings().stop_timeout_ms), next,
        [&](std::uint32_t place) { return core.actors().heap_end(place); },
        [&](arena_ref const& arena) {
          for (std::size_t i = 0; i < plan.size(); ++i)
            if (arena.has_cell(plan[i].id.index)) happened[i] = succeed(arena, plan[i], next);
        });
  } catch (std::exception const& e) {
    core.actors().finish_upgrade(plan, std::vector<bool>(plan.size(), false));
    refuse(e.what());
  }
  core.actors().finish_upgrade(plan, happened);
  if (!quiet) refuse(core.why_no_safepoint());
  core.run_module(next);
}

}  // namespace rondo
