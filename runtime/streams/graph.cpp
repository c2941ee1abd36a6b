#include "runtime/streams/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <boost/asio/detached.hpp>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "kernels/base/clock.hpp"
#include "runtime/streams/built/graph_build.hpp"
#include "runtime/streams/built/graph_ends.hpp"
#include "runtime/streams/built/measure_stages.hpp"
#include "runtime/streams/graph_report.hpp"
#include "runtime/streams/plan/graph_plan.hpp"
#include "runtime/streams/plan/graph_svg.hpp"
#include "runtime/streams/plan/measure_copies.hpp"
#include "runtime/streams/plan/player_beside.hpp"
#include "runtime/text/clean_text.hpp"
#include "runtime/text/to_stderr.hpp"

namespace rondo::streams {

namespace {

/// With what copies cost there, if there are several.
std::vector<planned_device> devices_of(runtime& rt) {
  std::vector<planned_device> all;
  for (std::uint32_t d = 0; d < rt.device_count(); ++d) {
    bool const has_memory = rt.buffers(d).home() != nullptr;
    auto const* const player = player_beside(rt, d);
    auto& device = all.emplace_back(planned_device{.name = rt.info(d).name,
                                                   .has_memory = has_memory,
                                                   .up = {},
                                                   .down = {},
                                                   .player = player != nullptr ? player->name() : ""});
    if (has_memory && rt.device_count() > 1) measure_copies(rt.buffers(d), device);
  }
  return all;
}

/// Throws std::invalid_argument.
void require_name(char const* of, std::string const& name) {
  if (auto const why = why_no_name(name); !why.empty())
    throw std::invalid_argument(fmt::format("the name '{}' of a {} {}", clean_text(name), of, why));
}

}  // namespace

struct graph::impl {
  impl(runtime& r, graph_options o)
      : rt(r), options(std::move(o)), plan(devices_of(r), options.use, options.devices) {
    plan.rate = options.rate;
    if (options.measure) plan.measure = [&r](auto const&... of) { return measured_ns(r, of...); };
  }

  void warn(std::string const& line) const {
    if (options.warn) return options.warn(line);
    to_stderr(fmt::format("rondo: {}\n", line));
  }
  void require_not_started(char const* what) const {
    if (built) throw std::invalid_argument(fmt::format("{}: the graph has started; build another one", what));
  }
  file_uses files(bool goes_on) const;
  /// Throws graph_error.
  void require_own_files(bool goes_on) const {
    if (auto const why = files(goes_on).conflict(); !why.empty()) throw graph_error(why);
  }
  void follow_end(stage_instance const& s);
  void follow_failures();
  void take_last_counts();
  result<std::uint64_t> set_paused(bool paused);
  void warn_of_transfers() const;
  graph_standing standing() const;

  runtime& rt;
  graph_options options;
  graph_plan plan;
  std::set<std::string> stage_names;
  std::unique_ptr<built_graph> built;

  std::shared_ptr<graph_ends> all_ends = std::make_shared<graph_ends>();
  std::mutex stopping;
  std::mutex plan_changes;  // `replace` against reports, which other threads make
  std::atomic<bool> is_paused{options.paused};
  std::optional<graph_reporter> reporter;
  graph_reports::membership reported;
};

graph::graph(runtime& rt, graph_options options) : impl_(make_process_ptr<impl>(rt, std::move(options))) {
  auto const& o = impl_->options;
  if (!(o.rate >= 0 && o.rate <= 1e6))
    throw std::invalid_argument(
        fmt::format("a graph's rate is 0 to 1000000 ticks per second, not {}", o.rate));
  if (o.name.empty()) throw std::invalid_argument("a graph needs a name: its actors' names begin with it");
  require_name("graph", o.name);
}

graph::~graph() {
  if (is_of_parent(impl_)) return;
  if (impl_->built) static_cast<void>(stop());
  impl_->reported = {};  // waits for a report, which uses this
}

// -- building

std::uint32_t graph::add_untyped(stage_kind const& kind, std::string name, void const* options,
                                 stage_options const& how) {
  impl_->require_not_started("a stage was added");
  if (name.empty()) throw std::invalid_argument("a stage needs a name");
  require_name("stage", name);
  if (how.replicas == 0)
    throw std::invalid_argument(
        fmt::format("the stage '{}' is to have no replicas: there is at least one", name));
  if (!impl_->stage_names.insert(name).second)
    throw std::invalid_argument(fmt::format("there is a stage '{}' already", name));
  planned_stage s{.kind = &kind, .name = std::move(name), .options = {}, .how = how, .inputs = {}};
  s.set_options(options);
  s.inputs.resize(kind.inputs.size());
  impl_->plan.stages.push_back(std::move(s));
  return static_cast<std::uint32_t>(impl_->plan.stages.size() - 1);
}

void graph::connect_untyped(graph const* from_graph, std::uint32_t from, std::uint32_t output,
                            graph const* to_graph, std::uint32_t to, std::uint32_t input,
                            connection_options const& options) {
  auto& plan = impl_->plan;
  impl_->require_not_started("two stages were connected");
  if (from_graph != this || to_graph != this)
    throw std::invalid_argument("a stage of another graph was connected");
  if (from >= plan.stages.size() || output >= plan.stages[from].kind->outputs.size() ||
      to >= plan.stages.size() || input >= plan.stages[to].kind->inputs.size())
    throw std::invalid_argument("a stage or a port that does not exist was connected");
  auto const& writes = plan.stages[from].kind->outputs[output];
  auto const& reads = plan.stages[to].kind->inputs[input];
  auto const names = fmt::format("{} and {}", plan.output_name(from, output), plan.input_name(to, input));
  if (writes.frame != reads.frame)
    throw std::invalid_argument(
        fmt::format("{} cannot be connected: the one passes frames of type {}, the other {}", names,
                    writes.frame, reads.frame));
  auto& in = plan.stages[to].inputs[input];
  if (in.from != no_stage)
    throw std::invalid_argument(fmt::format("{} is connected to {} already, and an input has one writer",
                                            plan.input_name(to, input),
                                            plan.output_name(in.from, in.output)));
  if (options.capacity == 0 || options.capacity > 1u << 16)
    throw std::invalid_argument(
        fmt::format("{}: a connection holds 1 to 65536 frames, not {}", names, options.capacity));
  in = {from, output, options.how.value_or(reads.how), std::bit_ceil(options.capacity)};
}

std::uint32_t graph::place_of(std::uint32_t stage) const {
  if (!impl_->built) impl_->plan.decide(false);
  return impl_->plan.places().at(stage);
}

// -- running

file_uses graph::files(bool goes_on) const { return impl_->files(goes_on); }
file_uses graph::impl::files(bool goes_on) const {
  file_uses all;
  for (auto const& s : plan.stages)
    add_files(all, *s.kind, s.option_bytes(), fmt::format("'{}/{}'", options.name, s.name), goes_on,
              s.how.replicas);
  return all;
}

void graph::impl::warn_of_transfers() const {
  for (auto const& t : plan.transfers())
    if (!t.by_hand)
      warn(fmt::format("graph '{}': frames of {} are copied from {} to {}: {} bytes, about {} us each",
                       options.name, plan.output_name(t.from, t.output),
                       plan.devices()[plan.places()[t.from]].name, plan.devices()[t.to_device].name, t.bytes,
                       (t.ns + 500) / 1000));
}

void graph::impl::follow_end(stage_instance const& s) {
  auto const stage = s.transfer == nullptr ? s.stage : no_stage;
  if (stage != no_stage) all_ends->reasons[s.name] = {*plan.stages[stage].kind, s.host};
  s.actor.ask(await_end{}, {.wait_for_room = true},
              [shared = all_ends, stage, name = s.name](error_code ec, stage_counts const& counts) {
                std::lock_guard const lock(shared->mutex);
                if (ec == errc::terminated || ec == errc::actor_gone) return;  // follow_failures says why
                if (ec) return shared->break_off(ec, fmt::format("'{}': {}", name, ec.message()));
                if (shared->open_names.erase(name) == 0) return;  // counted by take_last_counts
                --shared->open;
                if (stage != no_stage) add_to(shared->last[stage], counts);
                if (counts.gave_up != 0) {
                  auto const e = shared->reasons.at(name).error();
                  std::string const why = e.what();
                  shared->fail(errc::handler_failed,
                               fmt::format("'{}' cannot go on{}{}", name, why.empty() ? "" : ": ", why),
                               e.of);
                }
                shared->changed.notify_all();
              });
}

/// An actor that is stopped by its failure does not say that it has ended.
void graph::impl::follow_failures() {
  std::map<actor_id, std::string> names;
  for (auto const& s : built->instances()) names[s.actor.id()] = s.name;
  built->clock_actor().ask(
      await_failure{}, {.wait_for_room = true},
      [shared = all_ends, names](error_code ec, stage_failure const& f) {
        std::lock_guard const lock(shared->mutex);
        if (ec) return shared->break_off(ec, fmt::format("the clock was stopped: {}", ec.message()));
        auto const& name = names.at(f.who);
        shared->stopped.insert(name);
        shared->break_off(errc::terminated, f.reason == errc::actor_gone
                                                ? fmt::format("'{}' was stopped before the first tick", name)
                                                : fmt::format("'{}' was stopped: {}", name,
                                                              make_error_code(f.reason).message()));
      });
}

void graph::start() { start(nullptr); }
std::uint64_t graph::start_from(std::filesystem::path const& checkpoint) {
  auto const saved = read_saved_graph(checkpoint);
  start(&saved);
  return saved.next_tick;
}

void graph::start(saved_graph const* from) {
  impl_->require_not_started("start");
  auto& plan = impl_->plan;
  impl_->require_own_files(from != nullptr);
  plan.decide(true);
  for (auto const& t : plan.transfers()) {
    if (!impl_->options.strict || t.by_hand) continue;
    throw graph_error(
        fmt::format("the graph is strict, but frames of {} would be copied from {} to {}, {} bytes each",
                    plan.output_name(t.from, t.output), plan.devices()[plan.places()[t.from]].name,
                    plan.devices()[t.to_device].name, t.bytes));
  }
  impl_->warn_of_transfers();
  impl_->built = std::make_unique<built_graph>(impl_->rt, plan, impl_->options, from);
  auto& ends = *impl_->all_ends;
  {
    std::lock_guard const lock(ends.mutex);
    ends.last.assign(plan.stages.size(), {});
    for (auto const& s : impl_->built->instances()) ++ends.open, ends.open_names.insert(s.name);
  }
  for (auto const& s : impl_->built->instances()) impl_->follow_end(s);
  impl_->follow_failures();
  impl_->built->begin([shared = impl_->all_ends, &plan](planned_transfer const& t, error_code why) {
    std::lock_guard const lock(shared->mutex);
    shared->break_off(why,
                      fmt::format("the transfer of {} to {} failed: {}", plan.output_name(t.from, t.output),
                                  plan.devices()[t.to_device].name, why.message()));
  });
  impl_->reporter.emplace(plan, impl_->options, *impl_->built);
  impl_->reported = impl_->rt.graphs().add([this] {
    impl_->reporter->ask(impl_->standing().open_names);
    std::lock_guard const lock(impl_->plan_changes);
    return impl_->reporter->report(impl_->standing(), edges());
  });
}

error_code graph::wait(std::chrono::nanoseconds limit) {
  if (!impl_->built) return errc::wrong_state;
  auto& ends = *impl_->all_ends;
  error_code failure;
  {
    std::unique_lock lock(ends.mutex);
    auto const is_over = [&] { return ends.open == 0 || ends.is_broken; };
    if (!ends.changed.wait_until(lock, end_of(limit), is_over)) return errc::timed_out;
    failure = ends.failure;
  }
  static_cast<void>(stop());  // what stages have open is closed
  return failure;
}

error_code graph::stop(std::chrono::nanoseconds limit) {
  std::lock_guard const one_at_a_time(impl_->stopping);
  if (!impl_->built) return errc::wrong_state;
  auto& ends = *impl_->all_ends;
  auto const until = end_of(limit);
  static_cast<void>(
      impl_->built->clock_actor().ask(stop_clock{}, {.timeout = limit, .wait_for_room = true}, block));
  for (auto const& s : impl_->built->instances())
    static_cast<void>(s.actor.tell(graph_stops{}, {.wait_for_room = true}, boost::asio::detached));
  std::unique_lock lock(ends.mutex);
  bool const all = ends.changed.wait_until(lock, until, [&] { return ends.open == 0 || ends.is_broken; });
  if (!all)
    ends.fail(errc::timed_out,
              fmt::format("not ended within the limit: {}", fmt::join(ends.open_names, ", ")));
  auto const outcome = ends.failure;
  ends.is_over = true;
  lock.unlock();
  if (impl_->built->end()) impl_->take_last_counts();
  return outcome;
}

/// Of the stages that were terminated before they had said that they have ended. All actors are gone.
void graph::impl::take_last_counts() {
  std::lock_guard const lock(all_ends->mutex);
  for (auto const& s : built->instances())
    if (all_ends->open_names.erase(s.name) != 0 && s.transfer == nullptr)
      add_to(all_ends->last[s.stage], built->last_counts(s));
}

result<std::uint64_t> graph::pause() { return impl_->set_paused(true); }
result<std::uint64_t> graph::resume() { return impl_->set_paused(false); }

result<std::uint64_t> graph::impl::set_paused(bool paused) {
  std::lock_guard const one_at_a_time(stopping);
  if (!built) return make_error_code(errc::wrong_state);
  auto const made = built->set_paused(paused);
  if (made) is_paused = paused;
  return made;
}

std::optional<std::uint64_t> graph::checkpoint(std::filesystem::path const& file,
                                               std::chrono::nanoseconds limit) {
  std::lock_guard const one_at_a_time(impl_->stopping);
  if (!impl_->built)
    throw std::runtime_error(fmt::format("{}: the graph '{}' was not saved: it has not started",
                                         file.string(), impl_->options.name));
  if (impl_->all_ends->is_over) return std::nullopt;
  return impl_->built->checkpoint(file, impl_->is_paused, limit);
}

void graph::trigger() {
  std::lock_guard const one_at_a_time(impl_->stopping);
  if (!impl_->built || impl_->all_ends->is_over) return;
  for (auto const& s : impl_->built->instances())
    if (auto* const f = s.transfer == nullptr && s.host ? impl_->plan.stages[s.stage].kind->trigger : nullptr;
        f != nullptr)
      f(s.host.get());
}

void graph::require_present(graph const* owner, std::uint32_t stage, stage_kind const& kind) const {
  if (owner != this) throw std::invalid_argument("a stage of another graph was replaced");
  if (auto const& s = impl_->plan.stages.at(stage); s.kind->name != kind.name)
    throw std::invalid_argument(
        fmt::format("the stage '{}' is a {}, no longer a {}", s.name, s.kind->name, kind.name));
}

void graph::replace_untyped(std::uint32_t stage, stage_kind const& kind, void const* options) {
  std::lock_guard const one_at_a_time(impl_->stopping);
  auto& present = impl_->plan.stages.at(stage);
  if (!impl_->built || impl_->all_ends->is_over)
    throw graph_error(fmt::format("the stage '{}' was not replaced: the graph {}", present.name,
                                  impl_->built ? "has ended" : "has not started; add another stage"));
  auto next = present;
  next.kind = &kind;
  next.set_options(options);
  {
    file_uses uses;
    for (auto const& s : impl_->plan.stages) {
      auto const& then = &s == &present ? next : s;
      add_files(uses, *then.kind, then.option_bytes(), fmt::format("'{}'", s.name), false, s.how.replicas);
    }
    if (auto const why = uses.conflict(); !why.empty())
      throw graph_error(fmt::format("the stage '{}' was not replaced: {}", present.name, why));
  }
  auto spec =
      impl_->built->replace(stage, next, [&](stage_instance const& s, std::shared_ptr<void> const& host) {
        std::lock_guard const lock(impl_->all_ends->mutex);
        impl_->all_ends->reasons[s.name] = {kind, host};
      });
  std::lock_guard const lock(impl_->plan_changes);
  impl_->plan.replace(stage, std::move(next), std::move(spec));
}

// -- observing

graph_standing graph::impl::standing() const {
  std::lock_guard const lock(all_ends->mutex);
  auto const state = all_ends->failure     ? graph_state::failed
                     : all_ends->open == 0 ? graph_state::ended
                     : is_paused           ? graph_state::paused
                                           : graph_state::running;
  return {state, all_ends->why_failed, all_ends->last, all_ends->open_names};
}

stage_counts graph::counts_of(std::uint32_t stage) const {
  stage_counts sum{};
  if (!impl_->built || stage >= impl_->plan.stages.size()) return sum;
  std::vector<stage_actor> open;
  {
    std::lock_guard const lock(impl_->all_ends->mutex);
    sum = impl_->all_ends->last[stage];
    for (auto const* const s : impl_->built->instances_of(stage)) {
      if (!impl_->all_ends->open_names.contains(s->name)) continue;
      if (impl_->all_ends->stopped.contains(s->name))
        add_to(sum, impl_->built->last_counts(*s));
      else
        open.push_back(s->actor);
    }
  }
  for (auto const& actor : open)
    if (auto const c =
            actor.ask(read_counts{}, {.timeout = std::chrono::seconds(5), .wait_for_room = true}, block))
      add_to(sum, *c);
  return sum;
}

std::uint64_t graph::memory_of(std::uint32_t stage) const {
  std::uint64_t sum = 0;
  if (!impl_->built || stage >= impl_->plan.stages.size()) return sum;
  for (auto const* const s : impl_->built->instances_of(stage)) sum += s->scratch_bytes + s->frame_bytes;
  return sum;
}

std::vector<edge_report> graph::edges() const {
  std::vector<edge_report> all;
  auto const& plan = impl_->plan;
  for (std::uint32_t s = 0; s < plan.stages.size(); ++s)
    for (std::uint32_t i = 0; i < plan.stages[s].inputs.size(); ++i) {
      auto const& in = plan.stages[s].inputs[i];
      if (in.from == no_stage || plan.places().empty()) continue;
      all.push_back({.from = plan.output_name(in.from, in.output),
                     .to = plan.input_name(s, i),
                     .how = in.how,
                     .device = plan.places()[s],
                     .bytes = plan.frame_bytes(in.from, in.output),
                     .frames = plan.frame_text(in.from, in.output)});
    }
  if (!impl_->built) return all;
  for (auto const& l : impl_->built->links())
    all.push_back({.from = plan.output_name(l.transfer->from, l.transfer->output),
                   .to = plan.devices()[l.transfer->to_device].name,
                   .how = l.transfer->how,
                   .device = l.transfer->to_device,
                   .is_transfer = true,
                   .bytes = l.transfer->bytes,
                   .copies = l.work->copies(),
                   .copy_ns = l.work->copy_ns()});
  return all;
}

std::string graph::explain() const {
  auto const& plan = impl_->plan;
  if (!impl_->built) impl_->plan.decide(false);
  std::string text;
  for (auto const s : plan.order())
    text += fmt::format("{} ({}): {}, {}\n", plan.stages[s].name, plan.stages[s].kind->name,
                        plan.devices()[plan.places()[s]].name, plan.why(s));
  for (auto const& e : edges()) {
    if (e.is_transfer)
      text += fmt::format(
          "{} copied to {}: {} bytes a frame, {} so far, {:.1f} us each\n", e.from, e.to, e.bytes, e.copies,
          e.copies != 0 ? static_cast<double>(e.copy_ns) / 1e3 / static_cast<double>(e.copies) : 0.0);
    else
      text += fmt::format("{} -> {}: {}, {} bytes a frame{}{}\n", e.from, e.to, name_of(e.how), e.bytes,
                          e.frames.empty() ? "" : ": ", e.frames);
  }
  return text;
}

std::string graph::svg() const {
  if (!impl_->built) impl_->plan.decide(false);
  return graph_svg(impl_->plan, impl_->options.name);
}

std::string graph::why_failed() const {
  std::lock_guard const lock(impl_->all_ends->mutex);
  return impl_->all_ends->why_failed;
}

fault graph::failed_by() const {
  std::lock_guard const lock(impl_->all_ends->mutex);
  return impl_->all_ends->failed_by;
}

}  // namespace rondo::streams
