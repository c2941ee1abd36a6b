#include "runtime/streams/built/graph_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <ranges>
#include <tuple>

#include "runtime/os/start_thread.hpp"
#include "runtime/streams/built/end_actors.hpp"
#include "runtime/streams/kinds/graph_error.hpp"

namespace rondo::streams {

namespace {

using namespace std::chrono_literals;

}  // namespace

built_graph::built_graph(runtime& rt, graph_plan const& plan, graph_options const& options,
                         saved_graph const* saved)
    : rt_(rt), plan_(plan), options_(options) {
  make_instances();
  if (saved != nullptr) take_over(*saved);
  make_edges();
  make_hosts();
  for (auto const& s : instances_)
    if (!memories_.contains(s.device))
      memories_.emplace(s.device, std::make_unique<graph_memory>(rt_.buffers(s.device)));
  clock_device_ = std::ranges::find_if(instances_, [&](auto const& s) { return is_source(s); })->device;
  for (auto& [device, memory] : memories_) {
    memory->lay_out([&, d = device](graph_memory& m) { lay_out(d, m); });
    memory->write();
  }
  for (auto& s : instances_)
    if (auto const* const of = std::exchange(s.saved, nullptr); of != nullptr && s.scratch_bytes != 0)
      memories_.at(s.device)->copy(s.memory->scratch, of->scratch.data(), s.scratch_bytes);
  try {
    launch();
    write_ids();
  } catch (...) {  // those that live use the memory
    end();
    throw;
  }
}

// -- actors and edges

std::uint32_t built_graph::input_count(stage_instance const& s) const {
  if (s.transfer != nullptr) return s.is_inlet ? 0 : 1;
  return static_cast<std::uint32_t>(plan_.stages[s.stage].inputs.size());
}
std::uint32_t built_graph::output_count(stage_instance const& s) const {
  if (s.transfer != nullptr) return s.is_inlet ? 1 : 0;
  return static_cast<std::uint32_t>(plan_.stages[s.stage].kind->outputs.size());
}
bool built_graph::is_source(stage_instance const& s) const {
  return s.transfer == nullptr && std::ranges::all_of(plan_.stages[s.stage].inputs,
                                                      [](auto const& in) { return in.from == no_stage; });
}
/// A source that gets its ticks from the clock.
bool built_graph::is_ticked(stage_instance const& s) const {
  return is_source(s) && !plan_.stages[s.stage].kind->has_own_ticks;
}
bool built_graph::is_sink(stage_instance const& s) const { return s.transfer == nullptr && s.writes.empty(); }
std::uint64_t built_graph::period_ns() const noexcept { return options_.paced ? step_ns() : 0; }
std::uint64_t built_graph::step_ns() const noexcept {
  return options_.rate > 0 ? static_cast<std::uint64_t>(1e9 / options_.rate) : 0;
}

void built_graph::make_instances() {
  of_stages_.resize(plan_.stages.size());
  for (auto const number : plan_.order()) {
    auto const& stage = plan_.stages[number];
    for (std::uint32_t r = 0; r < stage.how.replicas; ++r) {
      instances_.push_back({.stage = number,
                            .replica = r,
                            .device = plan_.places()[number],
                            .name = stage.how.replicas > 1
                                        ? fmt::format("{}/{}-{}", options_.name, stage.name, r + 1)
                                        : fmt::format("{}/{}", options_.name, stage.name)});
      of_stages_[number].push_back(&instances_.back());
    }
  }
  for (auto const& t : plan_.transfers())
    for (bool const inlet : {false, true}) {
      instances_.push_back(
          {.stage = t.from,
           .transfer = &t,
           .is_inlet = inlet,
           .device = inlet ? t.to_device : plan_.places()[t.from],
           .name = fmt::format("{}/{} {} {}", options_.name, plan_.output_name(t.from, t.output),
                               inlet ? "at" : "to", plan_.devices()[t.to_device].name)});
      (inlet ? ends_[&t].inlet : ends_[&t].outlet) = &instances_.back();
    }
}

void built_graph::connect(built_edge edge) {
  auto& e = edges_.emplace_back(edge);
  e.writer->writes.push_back(&e);
  e.reader->reads.push_back(&e);
}

void built_graph::make_edges() {
  for (auto const& t : plan_.transfers())
    for (auto* const writer : of_stages_[t.from])
      connect({.writer = writer,
               .reader = ends_.at(&t).outlet,
               .output = t.output,
               .input = 0,
               .how = t.how,
               .capacity = t.capacity});
  for (auto const reader : plan_.order()) {
    auto const& stage = plan_.stages[reader];
    for (std::uint32_t i = 0; i < stage.inputs.size(); ++i) {
      auto const& in = stage.inputs[i];
      if (in.from == no_stage) continue;
      auto const* const transfer = plan_.transfer_to(reader, i);
      auto const writers = transfer != nullptr ? std::vector{ends_.at(transfer).inlet} : of_stages_[in.from];
      for (auto* const w : writers)
        for (auto* const r : of_stages_[reader])
          connect({.writer = w,
                   .reader = r,
                   .output = transfer != nullptr ? 0 : in.output,
                   .input = i,
                   .how = in.how,
                   .capacity = in.capacity});
    }
  }
  find_holders();
}

void built_graph::make_hosts() {
  for (auto& s : instances_) {
    if (s.transfer != nullptr) continue;
    log_line of;
    of.actor_name = s.name;
    of.behaviour = plan_.stages[s.stage].kind->name;
    of.device = s.device;
    s.link =
        std::make_shared<stage_link>(rt_, std::move(of), options_.paused,
                                     stage_beginning{first_tick_, s.processed_before}, plan_.plays(s.stage));
    s.host = plan_.stages[s.stage].make_host(plan_.specs()[s.stage], *s.link);
  }
}

// -- memory

void built_graph::lay_out(std::uint32_t device, graph_memory& memory) {
  for (auto& e : edges_) {
    if (e.writer->device != device) continue;
    frame* places = nullptr;
    if (e.how != delivery::latest) {
      places = memory.take<frame>(e.capacity);
      std::uninitialized_value_construct_n(places, e.capacity);
    }
    e.on_host = new (memory.take<edge>()) edge(e.how, memory.at_device(places), e.capacity);
    e.at_device = memory.at_device(e.on_host);
  }
  std::erase_if(pools_, [&](auto const& p) { return p.first->device == device; });
  for (auto& s : instances_)
    if (s.device == device) lay_out_stage(memory, s);
  if (device == clock_device_) lay_out_clock(memory);
}

void built_graph::lay_out_stage(graph_memory& memory, stage_instance& s) {
  auto* const m = new (memory.take<stage_memory>()) stage_memory{};
  s.memory = m;
  s.memory_at_device = memory.at_device(m);
  m->device = s.device;
  lay_out_inputs(memory, s);
  lay_out_outputs(memory, s);
  if (s.transfer != nullptr) return;

  auto const& stage = plan_.stages[s.stage];
  auto const words = stage.options.size();
  auto* const options = memory.take<std::max_align_t>(words);
  std::memcpy(static_cast<void*>(options), stage.options.data(), words * sizeof *options);
  m->options = memory.at_device(options);
  m->host = s.host.get();
  m->link = s.link.get();
  m->sink = s.stage;
  m->attempts = std::max(stage.how.attempts, 1u);
  m->period_ns = period_ns();
  m->step_ns = options_.paced ? 0 : step_ns();
  m->slow_ns = options_.slow.count() > 0 ? static_cast<std::uint64_t>(options_.slow.count()) : m->period_ns;
  m->is_replica = stage.how.replicas > 1;
  m->is_sink = is_sink(s);
  m->has_own_ticks = stage.kind->has_own_ticks;
  m->takes_any = stage.kind->takes_any;
  m->own_tick_limit = options_.ticks;
  s.scratch_bytes = plan_.specs()[s.stage].scratch_bytes;
  if (s.scratch_bytes != 0) m->scratch = memory.block(s.scratch_bytes, true);
  m->next_number = m->due_number = first_tick_;
  if (s.saved != nullptr) m->own_ticks = s.saved->own_ticks;
}

void built_graph::lay_out_inputs(graph_memory& memory, stage_instance& s) {
  auto const count = input_count(s);
  auto* const inputs = memory.take<input_state>(count);
  std::uninitialized_value_construct_n(inputs, count);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<edge*> from;  // in the order of the writer's replicas
    for (auto const* const e : s.reads)
      if (e->input == i) from.push_back(e->at_device);
    auto** const edges = memory.take<edge*>(from.size());
    std::ranges::copy(from, edges);
    inputs[i].edges = memory.at_device(edges);
    inputs[i].count = static_cast<std::uint32_t>(from.size());
  }
  s.memory->inputs = memory.at_device(inputs);
  s.memory->input_count = count;
}

void built_graph::lay_out_outputs(graph_memory& memory, stage_instance& s) {
  auto const count = output_count(s);
  auto* const outputs = memory.take<output_state>(count);
  std::uninitialized_value_construct_n(outputs, count);
  for (std::uint32_t o = 0; o < count; ++o) {
    // Replicas of a reader share its frames, except that each of them has the newest one of an input with `latest`.
    std::vector<std::vector<built_edge const*>> readers;
    std::map<std::tuple<std::uint32_t, planned_transfer const*, std::uint32_t>, std::size_t> of_input;
    for (auto const* const e : s.writes) {
      if (e->output != o) continue;
      auto const [same, is_new] =
          of_input.try_emplace({e->reader->stage, e->reader->transfer, e->input}, readers.size());
      if (!is_new && e->how != delivery::latest)
        readers[same->second].push_back(e);
      else
        readers.push_back({e});
    }
    auto* const groups = memory.take<reader_edges>(readers.size());
    for (std::size_t r = 0; r < readers.size(); ++r) {
      auto** const edges = memory.take<edge*>(readers[r].size());
      for (std::size_t e = 0; e < readers[r].size(); ++e) edges[e] = readers[r][e]->at_device;
      new (groups + r)
          reader_edges{memory.at_device(edges), static_cast<std::uint32_t>(readers[r].size()), 0};
    }
    outputs[o].readers = memory.at_device(groups);
    outputs[o].count = static_cast<std::uint32_t>(readers.size());
    outputs[o].pool = memory.at_device(lay_out_pool(memory, s, o));
    if (s.transfer == nullptr)
      std::ranges::copy(plan_.specs()[s.stage].outputs[o].bytes, outputs[o].announced);
  }
  s.memory->outputs = memory.at_device(outputs);
  s.memory->output_count = count;
}

void built_graph::lay_out_clock(graph_memory& memory) {
  auto* const c = new (memory.take<clock_memory>()) clock_memory{};
  c->source_count = static_cast<std::uint32_t>(
      std::ranges::count_if(instances_, [&](auto const& s) { return is_source(s); }));
  c->ticked_count = static_cast<std::uint32_t>(
      std::ranges::count_if(instances_, [&](auto const& s) { return is_ticked(s); }));
  auto* const sources = memory.take<actor_id>(c->source_count);
  std::uninitialized_value_construct_n(sources, c->source_count);
  // By the number of their stage; those of the others count as done.
  c->sink_count = static_cast<std::uint32_t>(plan_.stages.size());
  auto* const done = memory.take<std::uint64_t>(c->sink_count);
  std::fill_n(done, c->sink_count, ~0ull);
  for (auto const& s : instances_)
    if (is_sink(s)) done[s.stage] = first_tick_;
  c->actor_count = static_cast<std::uint32_t>(instances_.size());
  auto* const actors = memory.take<actor_id>(c->actor_count);
  std::uninitialized_value_construct_n(actors, c->actor_count);
  c->actors = memory.at_device(actors);
  clock_actors_ = actors;
  c->sources = memory.at_device(sources);
  c->done = memory.at_device(done);
  c->period_ns = period_ns();
  c->step_ns = options_.paced ? 0 : step_ns();
  c->window = std::max(options_.window, 1u);
  c->limit = options_.ticks;
  c->paused = options_.paused;
  c->made = c->made_at_beat = first_tick_;
  clock_memory_ = c;
  clock_sources_ = sources;
  clock_at_device_ = memory.at_device(c);
}

// -- actors

void built_graph::launch() {
  auto const capacity =
      std::max(64u, rt_.settings().default_capacity + 1);  // more than a shared ring: see stage_loop::wake
  auto const options_for = [&](std::uint32_t device, supervision supervise) {
    return actor_options{.device = device, .capacity = capacity, .active = false, .supervise = supervise};
  };
  for (auto& s : instances_) {
    auto const supervise = s.transfer == nullptr ? plan_.stages[s.stage].how.supervise : supervision{};
    auto const how = options_for(s.device, supervise);
    try {
      if (s.transfer == nullptr)
        s.actor = plan_.stages[s.stage].kind->launch(rt_, s.name, how, s.memory_at_device);
      else if (s.is_inlet)
        s.actor = rt_.launch<inlet>(s.name, how, {s.memory_at_device});
      else
        s.actor = rt_.launch<outlet>(s.name, how, {s.memory_at_device});
    } catch (boost::system::system_error const& e) {
      throw graph_error(fmt::format(
          "the stage '{}' cannot be launched: {}{}", s.name, e.what(),
          e.code() == errc::unknown_behaviour ? "; list its type in the runtime's RONDO_STAGES" : ""));
    }
  }
  clock_ = rt_.launch<clock>(fmt::format("{}/clock", options_.name), options_for(clock_device_, {}),
                             {clock_at_device_});
}

/// They are not known before, and no stage has begun.
void built_graph::write_ids() {
  for (auto& e : edges_) {
    e.on_host->reader = e.reader->actor.id();
    e.on_host->writer = e.writer->actor.id();
    memories_.at(e.writer->device)->write(&e.on_host->reader, &e.on_host->writer + 1);
  }
  for (auto const& [owner, pool] : pools_) {
    pool->owner = owner->actor.id();
    memories_.at(owner->device)->write(&pool->owner, &pool->owner + 1);
  }
  std::uint32_t next = 0, number = 0;
  for (bool const ticked : {true, false})
    for (auto const& s : instances_)
      if (is_source(s) && is_ticked(s) == ticked) clock_sources_[next++] = s.actor.id();
  for (auto& s : instances_) {
    clock_actors_[number++] = s.actor.id();
    if (s.transfer != nullptr) continue;
    s.link->begin(s.actor);
    s.memory->clock = clock_.id();
    memories_.at(s.device)->write(&s.memory->clock, &s.memory->clock + 1);
  }
  memories_.at(clock_device_)->write(clock_sources_, clock_sources_ + next);
  memories_.at(clock_device_)->write(clock_actors_, clock_actors_ + number);
}

void built_graph::begin(std::function<void(planned_transfer const&, error_code)> on_failure) {
  for (auto const& s : instances_) static_cast<void>(activate(s.actor, block));
  static_cast<void>(activate(clock_, block));
  for (auto const& t : plan_.transfers()) {
    auto const [from, to] = ends_.at(&t);
    auto const home_of = [&](stage_instance const& s) { return rt_.buffers(s.device).home(); };
    auto& l = links_.emplace_back(
        link{&t,
             std::make_unique<transfer_link>(outlet_ref{from->actor.mail(), from->actor.id()}, home_of(*from),
                                             inlet_ref{to->actor.mail(), to->actor.id()}, home_of(*to)),
             {}});
    l.thread = start_thread("copies between devices", [&t, work = l.work.get(), on_failure] {
      if (auto const failed = work->run()) on_failure(t, failed);
    });
  }
  static_cast<void>(clock_.tell(start_clock{}, {.wait_for_room = true}, block));
  if (std::ranges::none_of(instances_, [&](auto const& s) { return is_ticked(s); })) return;
  if (auto const period = std::chrono::nanoseconds(period_ns()); period.count() != 0) {
    auto const ticks = (shortest_period + period - 1ns) / period;
    beats_ = rt_.every(period * ticks, clock_, beat{static_cast<std::uint32_t>(ticks)});
  } else {
    beats_ = rt_.every(20ms, clock_, beat{});
  }
}

result<std::uint64_t> built_graph::set_paused(bool paused) {
  for (auto const& s : instances_)
    if (s.link) s.link->set_paused(paused);
  auto const done = clock_.ask(pause_clock{paused}, {.wait_for_room = true}, block);
  if (!done) return done.error();
  return done->count;
}

built_graph::~built_graph() {
  if (end()) return;
  for (auto& [device, memory] : memories_) static_cast<void>(memory.release());
  for (auto& [instance, r] : replacements_)
    static_cast<void>(r.options.detach()), static_cast<void>(r.scratch.detach());
  for (auto& s : instances_) static_cast<void>(new std::pair(std::move(s.link), std::move(s.host)));
}

bool built_graph::end() {
  if (has_ended_) return *has_ended_;
  beats_ = {};
  ending_actors ends{rt_};
  ends.add(clock_);
  for (auto const& s : instances_) ends.add(s.actor);
  has_ended_ = ends.wait();
  for (auto const& s : instances_)
    if (s.link) s.link->wait_for_kernels();
  // Files are finished, windows close. Those that keep frames end before those that have lent them, and all before the
  // graph's memory.
  for (auto& s : instances_ | std::views::reverse)
    if (*has_ended_) s.host.reset();
  for (auto& l : links_) l.thread.join();
  return *has_ended_;
}

stage_counts built_graph::last_counts(stage_instance const& s) const {
  stage_memory last;
  try {
    memories_.at(s.device)->copy_back(reinterpret_cast<std::byte*>(&last),
                                      reinterpret_cast<std::byte const*>(s.memory_at_device), sizeof(last));
  } catch (graph_error const&) {
    return {};
  }
  if (last.tried != 0) ++last.counts.failed;  // the next attempt would have counted it
  last.counts.ended = 1;
  return last.counts;
}

}  // namespace rondo::streams
