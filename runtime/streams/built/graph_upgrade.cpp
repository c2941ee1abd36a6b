// A stage of a running graph is replaced: by one with other options, or of another type with the same ports.
//
// The actor stays, with its id and its mail, and so do its edges, its frames in hand, and its counts: they lie in
// stage_memory. At a safepoint of its device, which is between two ticks, stage_memory gets the new options, and the
// actor a fresh state.
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "runtime/streams/built/graph_build.hpp"
#include "runtime/upgrade.hpp"

namespace rondo::streams {

namespace {

bool same_port(port_kind const& a, port_kind const& b) {
  return a.name == b.name && a.frame == b.frame && a.is_optional == b.is_optional && a.edit_of == b.edit_of;
}
void require_same_ports(planned_stage const& old, planned_stage const& next) {
  if (std::ranges::equal(old.kind->inputs, next.kind->inputs, same_port) &&
      std::ranges::equal(old.kind->outputs, next.kind->outputs, same_port))
    return;
  throw graph_error(fmt::format("the stage '{}' cannot become a {}: its ports differ from those of {}",
                                old.name, next.kind->name, old.kind->name));
}

/// The blocks of its frames, and the clock, were made for these.
void require_same_memory_and_ticks(planned_stage const& old, planned_stage const& next) {
  auto const refuse = [&](std::string const& why) {
    throw graph_error(fmt::format(
        "the stage '{}' cannot be replaced in a running graph: {}; build another one", old.name, why));
  };
  if (old.kind->lender_of != nullptr || next.kind->lender_of != nullptr)
    refuse("its frames lie in memory of another process");
  if (old.kind->has_own_ticks != next.kind->has_own_ticks) refuse("only one of them has ticks of its own");
  if (old.kind->takes_any != next.kind->takes_any) refuse("only one of them takes a tick from any input");
}

/// Its readers and the blocks of its frames were made for these.
void require_same_frames(planned_stage const& next, stage_spec const& old, stage_spec const& spec) {
  auto const& outputs = next.kind->outputs;
  for (std::uint32_t o = 0; o < outputs.size(); ++o)
    if (std::memcmp(spec.outputs[o].bytes, old.outputs[o].bytes, max_about_bytes) != 0)
      throw graph_error(fmt::format(
          "the stage '{}' would make other frames at its output '{}' ({} bytes instead of {}); "
          "a running graph keeps its shapes: build another one",
          next.name, outputs[o].name, outputs[o].bytes(spec.outputs[o]), outputs[o].bytes(old.outputs[o])));
  if (spec.kept_frames > old.kept_frames)
    throw graph_error(
        fmt::format("the stage '{}' cannot be replaced in a running graph: it would keep {} frames instead "
                    "of {}; build another one",
                    next.name, spec.kept_frames, old.kept_frames));
}

buffer take(graph_memory& memory, std::uint64_t bytes, planned_stage const& for_stage) {
  auto owned = memory.pool().acquire_buffer(bytes);
  if (!owned)
    throw graph_error(fmt::format("no memory to replace the stage '{}': {} bytes: {}", for_stage.name, bytes,
                                  owned.error().message()));
  return std::move(*owned);
}

}  // namespace

stage_spec built_graph::replace(std::uint32_t stage, planned_stage const& next, replaced_fn const& replaced) {
  auto const& old = plan_.stages[stage];
  auto const& device = plan_.devices()[plan_.places()[stage]];
  require_same_ports(old, next);
  require_same_memory_and_ticks(old, next);
  if (std::ranges::count(rt_.behaviours(), next.kind->behaviour, &behaviour_info::name) == 0)
    throw graph_error(fmt::format("the stage '{}' cannot become a {}: list it in the runtime's RONDO_STAGES",
                                  old.name, next.kind->name));
  if (device.has_memory ? next.kind->where == works::on_host : next.kind->where == works::on_accelerator)
    throw graph_error(
        fmt::format("the stage '{}' works on {}, where a {} cannot", old.name, device.name, next.kind->name));
  auto const& present = plan_.specs()[stage];
  auto spec = next.spec_for(present);
  require_same_frames(next, present, spec);
  bool const keeps_scratch = next.kind->name == old.kind->name || next.kind->upgrades == old.kind->name;

  // All that may fail comes first, then one change of memory at the safepoint.
  auto& memory = *memories_.at(plan_.places()[stage]);
  std::vector<std::pair<stage_instance*, replacement>> changes;
  std::vector<actor_id> actors;
  for (auto* const s : of_stages_[stage]) {
    changes.emplace_back(s, prepare(memory, *s, next, spec, keeps_scratch));
    actors.push_back(s->actor.id());
  }
  bool written = false, is_within_tick = false;
  auto const at_safepoint = [&]() -> std::string {
    for (auto const& [s, with] : changes) {
      memory.read(&s->memory->phases, &s->memory->counts + 1);
      if (s->memory->counts.ended != 0) return "it has ended";
      if (is_within_tick = s->memory->phases.is_under_way; is_within_tick) return "a tick does not end";
    }
    written = true;
    for (auto const& [s, with] : changes) {
      s->memory->options = memory.pool().address_of(with.options.ref());
      s->memory->host = with.host.get();
      if (!keeps_scratch)
        s->memory->scratch = with.scratch ? memory.pool().address_of(with.scratch.ref()) : nullptr;
      memory.write(&s->memory->options, &s->memory->scratch + 1);
      replaced(*s, with.host);
    }
    return {};
  };
  std::string why_not;
  auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  do {  // a wide stage also stands still between the phases of a tick
    if (is_within_tick) std::this_thread::sleep_for(std::chrono::microseconds(200));
    why_not.clear();
    try {
      rondo::detail::begin_again(rt_, actors, next.kind->behaviour, at_safepoint);
    } catch (std::runtime_error const& e) {
      why_not = e.what();
    }
  } while (is_within_tick && std::chrono::steady_clock::now() < until);
  for (auto& [s, with] : changes) {
    if (!written) break;  // else it is in use, even if the device was lost afterwards
    if (keeps_scratch)
      with.scratch = std::move(replacements_[s].scratch);
    else
      s->scratch_bytes = with.scratch.bytes();
    s->host = std::move(with.host);
    replacements_[s] = std::move(with);
  }
  if (!why_not.empty())
    throw graph_error(fmt::format("the stage '{}' was not replaced: {}", old.name, why_not));
  return spec;
}

/// What the instance will use.
built_graph::replacement built_graph::prepare(graph_memory& memory, stage_instance const& s,
                                              planned_stage const& next, stage_spec const& spec,
                                              bool keeps_scratch) {
  auto const needs = spec.scratch_bytes;
  if (keeps_scratch && needs > s.scratch_bytes)
    throw graph_error(
        fmt::format("the stage '{}' keeps its scratch memory, which has {} bytes, but now needs {}",
                    next.name, s.scratch_bytes, needs));
  auto const bytes = next.kind->option_bytes;
  replacement r{.options = take(memory, bytes, next), .scratch = {}, .host = next.make_host(spec, *s.link)};
  memory.copy(memory.pool().address_of(r.options.ref()), static_cast<std::byte const*>(next.option_bytes()),
              bytes);
  if (keeps_scratch || needs == 0) return r;
  r.scratch = take(memory, needs, next);
  std::vector<std::byte> const zeros(needs);
  memory.copy(memory.pool().address_of(r.scratch.ref()), zeros.data(), needs);
  return r;
}

}  // namespace rondo::streams
