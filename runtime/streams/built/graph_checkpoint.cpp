// A paused graph is saved, and another one goes on from there.
//
// No frame is under way when each stage, asked in the order in which frames travel, has said that it has nothing to do:
// what was before it is idle then and stays so, because no ticks are made. So there are no frames to save, only what
// stages keep: their scratch memory, and how far they are. All else is as after a restart.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "runtime/streams/built/graph_build.hpp"

namespace rondo::streams {

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

stage_progress progress_of(stage_instance const& s, clock_type::time_point limit) {
  auto const left = std::max<std::chrono::nanoseconds>(limit - clock_type::now(), 1ms);
  auto const p = s.actor.ask(read_progress{}, {.timeout = left, .wait_for_room = true}, block);
  if (!p)
    throw std::runtime_error(fmt::format("'{}' does not say how far it is: {}", s.name, p.error().message()));
  return *p;
}

}  // namespace

std::vector<stage_instance const*> built_graph::in_order_of_frames() const {
  std::vector<std::vector<stage_instance const*>> ends(plan_.stages.size());
  for (bool const inlet : {false, true})
    for (auto const& t : plan_.transfers()) {
      auto const& both = ends_.at(&t);
      ends[t.from].push_back(inlet ? both.inlet : both.outlet);
    }
  std::vector<stage_instance const*> all;
  for (auto const stage : plan_.order()) {
    all.insert(all.end(), of_stages_[stage].begin(), of_stages_[stage].end());
    all.insert(all.end(), ends[stage].begin(), ends[stage].end());
  }
  return all;
}

void built_graph::require_idle(std::uint64_t made, clock_type::time_point limit) {
  auto const order = in_order_of_frames();
  for (;;) {
    auto const busy = std::ranges::find_if(order, [&](stage_instance const* s) {
      auto const p = progress_of(*s, limit);
      // A tick may still be on its way to a source on another device than the clock's.
      bool const misses_ticks = is_ticked(*s) && p.is_ending == 0 && p.next_number != made;
      return p.is_busy != 0 || misses_ticks;
    });
    if (busy == order.end()) return;
    if (clock_type::now() > limit)
      throw std::runtime_error(fmt::format("'{}' still has frames under way", (*busy)->name));
    std::this_thread::sleep_for(200us);
  }
}

std::optional<saved_graph> built_graph::save(std::uint64_t made, clock_type::time_point limit) {
  require_idle(made, limit);
  // What was processed is to be where a later run does not look for it in this process.
  for (auto const& s : instances_)
    if (s.transfer == nullptr && s.host && plan_.stages[s.stage].kind->flush != nullptr)
      plan_.stages[s.stage].kind->flush(s.host.get());
  saved_graph g{.name = options_.name, .next_tick = made, .stages = {}};
  for (auto const& s : instances_) {
    if (s.transfer != nullptr) continue;
    auto const& stage = plan_.stages[s.stage];
    auto const p = progress_of(s, limit);
    if (p.is_ending != 0 || (is_ticked(s) && options_.ticks != 0 && made >= options_.ticks)) return {};
    saved_stage saved{.name = stage.name,
                      .type = std::string(stage.kind->name),
                      .replica = s.replica,
                      .processed = s.processed_before + p.processed,
                      .own_ticks = p.own_ticks,
                      .scratch = {}};
    // Nothing writes it: the stage is idle, and its answer came after what it has written.
    saved.scratch.resize(plan_.specs()[s.stage].scratch_bytes);
    if (!saved.scratch.empty())
      memories_.at(s.device)->copy_back(saved.scratch.data(), s.memory->scratch, saved.scratch.size());
    g.stages.push_back(std::move(saved));
  }
  return g;
}

std::optional<std::uint64_t> built_graph::checkpoint(std::filesystem::path const& file, bool stays_paused,
                                                     std::chrono::nanoseconds limit) {
  struct go_on {
    built_graph& of;
    bool stays_paused;
    ~go_on() {
      if (!stays_paused) static_cast<void>(of.set_paused(false));
    }
  };
  std::optional<saved_graph> saved;
  try {
    auto const until = end_of(limit);
    go_on const afterwards{*this, stays_paused};
    auto const made = set_paused(true);
    if (!made) throw std::runtime_error(made.error().message());
    saved = save(*made, until);
  } catch (std::runtime_error const& e) {
    throw std::runtime_error(
        fmt::format("{}: the graph '{}' was not saved: {}", file.string(), options_.name, e.what()));
  }
  if (!saved) return {};
  write_saved_graph(file, *saved);
  return saved->next_tick;
}

void built_graph::take_over(saved_graph const& saved) {
  if (options_.ticks != 0 && saved.next_tick >= options_.ticks)
    throw graph_error(fmt::format("{} is a checkpoint after {} ticks, and the graph ends after {}",
                                  saved.file.string(), saved.next_tick, options_.ticks));
  auto const refuse = [&](std::string const& why) {
    throw graph_error(
        fmt::format("{} is a checkpoint of another graph: {}; begin without it", saved.file.string(), why));
  };
  std::map<std::pair<std::string_view, std::uint32_t>, saved_stage const*> known;  // the first of each
  for (auto const& of : saved.stages) known.try_emplace({of.name, of.replica}, &of);
  std::size_t found = 0;
  for (auto& s : instances_) {
    if (s.transfer != nullptr) continue;
    auto const& stage = plan_.stages[s.stage];
    auto const at = known.find({stage.name, s.replica});
    if (at == known.end())
      refuse(fmt::format("it has no stage '{}'{}", stage.name,
                         s.replica != 0 ? fmt::format(" {}", s.replica + 1) : ""));
    auto const* const of = at->second;
    if (of->type != stage.kind->name)
      refuse(fmt::format("its stage '{}' is a {}, and here a {}", stage.name, of->type, stage.kind->name));
    if (auto const needs = plan_.specs()[s.stage].scratch_bytes; of->scratch.size() != needs)
      refuse(fmt::format("its stage '{}' has {} bytes of scratch memory, and needs {} here", stage.name,
                         of->scratch.size(), needs));
    if (options_.ticks != 0 && of->own_ticks >= options_.ticks)
      throw graph_error(fmt::format("{} is a checkpoint after {} ticks of '{}', and the graph ends after {}",
                                    saved.file.string(), of->own_ticks, stage.name, options_.ticks));
    s.saved = of;
    s.processed_before = of->processed;
    ++found;
  }
  if (found != saved.stages.size())
    refuse(fmt::format("it has {} stages, counting replicas, and here there are {}", saved.stages.size(),
                       found));
  first_tick_ = saved.next_tick;
}

}  // namespace rondo::streams
