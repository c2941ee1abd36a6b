#include "runtime/streams/plan/graph_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "runtime/os/start_thread.hpp"
#include "runtime/streams/kinds/graph_error.hpp"
#include "runtime/streams/kinds/option_list.hpp"

namespace rondo::streams {

namespace {

char const* name_of(backend use) {
  switch (use) {
    case backend::automatic:
      return "automatic";
    case backend::cpu:
      return "cpu";
    case backend::cuda:
      return "cuda";
    case backend::metal:
      return "metal";
    case backend::emulated:
      return "emulated";
    case backend::opencl:
      return "opencl";
  }
  return "?";
}

/// Throws what a stage has thrown as the graph_error that says whose fault it is. A stage throws std::invalid_argument
/// for its options.
[[noreturn]] void refuse(planned_stage const& s, std::string const& text, std::exception const& e) {
  bool const is_source = s.kind->inputs.empty(), is_sink = s.kind->outputs.empty();
  if (auto const* const known = dynamic_cast<stage_error const*>(&e)) throw graph_error(text, known->of);
  if (is_source == is_sink || dynamic_cast<std::invalid_argument const*>(&e) != nullptr)
    throw graph_error(text);
  throw graph_error(text, is_sink ? fault::output_refused : fault::input_missing);
}

}  // namespace

void planned_stage::set_options(void const* bytes) {
  options.resize((kind->option_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  std::memcpy(static_cast<void*>(options.data()), bytes, kind->option_bytes);
}

stage_spec planned_stage::spec_for(stage_spec const& told) const {
  auto const refused = [this](std::string const& why) {
    return fmt::format("the stage '{}' refuses what it is to work on: {}", name, why);
  };
  if (auto const why = wrong_option(*kind, option_bytes()); !why.empty()) throw graph_error(refused(why));
  stage_spec spec;
  spec.inputs = told.inputs;
  spec.readers = told.readers;
  spec.rate = told.rate;
  spec.sources = told.sources;
  spec.opened = opened.get();
  try {
    if (kind->spec != nullptr) kind->spec(option_bytes(), spec);
  } catch (std::exception const& e) {
    refuse(*this, refused(e.what()), e);
  }
  if (!spec.refusal.empty()) throw graph_error(refused(spec.refusal));
  for (std::uint32_t o = 0; o < kind->outputs.size(); ++o)
    for (std::uint32_t i = 0; i < kind->inputs.size() && !spec.outputs[o].is_known; ++i)
      if (kind->inputs[i].frame == kind->outputs[o].frame) spec.outputs[o] = spec.inputs[i];
  return spec;
}

bool planned_stage::is_measurable(stage_spec const& spec) const {
  return !spec.has_cost && kind->where == works::anywhere && kind->make_host == nullptr &&
         !kind->outputs.empty() &&
         std::ranges::any_of(inputs, [](auto const& in) { return in.from != no_stage; });
}

bool planned_stage::has_measurable_kernels() const {
  return kind->has_kernels && kind->where == works::anywhere && kind->make_host == nullptr &&
         !kind->outputs.empty();
}

std::shared_ptr<void> planned_stage::make_host(stage_spec spec, host_link& link) const {
  if (kind->make_host == nullptr) return nullptr;
  try {
    return started("a stage", [&] { return kind->make_host(option_bytes(), spec, link); });
  } catch (no_thread const&) {
    throw;
  } catch (std::exception const& e) {
    refuse(*this, fmt::format("the stage '{}' cannot open what it needs: {}", name, e.what()), e);
  }
}

graph_plan::graph_plan(std::vector<planned_device> devices, backend use, std::vector<std::uint32_t> allowed)
    : devices_(std::move(devices)), use_(use), allowed_(std::move(allowed)) {}

void graph_plan::decide(bool is_whole) {
  if (is_whole) check_connections();
  check_replicas();
  sort();
  ask_for_specs(is_whole);
  choose_places();
  find_transfers();
  kernels_.clear();
  for (std::uint32_t s = 0; s < stages.size(); ++s) kernels_.push_back(choose_kernels(s));
}

std::string graph_plan::output_name(std::uint32_t stage, std::uint32_t output) const {
  return fmt::format("{}.{}", stages[stage].name, stages[stage].kind->outputs[output].name);
}
std::string graph_plan::input_name(std::uint32_t stage, std::uint32_t input) const {
  return fmt::format("{}.{}", stages[stage].name, stages[stage].kind->inputs[input].name);
}

void graph_plan::check_connections() const {
  if (stages.empty()) throw graph_error("the graph has no stages: add some");
  for (std::uint32_t s = 0; s < stages.size(); ++s)
    for (std::uint32_t i = 0; i < stages[s].inputs.size(); ++i)
      if (stages[s].inputs[i].from == no_stage && !stages[s].kind->inputs[i].is_optional)
        throw graph_error(
            fmt::format("the input {} is not connected: connect an output with frames of type {}",
                        input_name(s, i), stages[s].kind->inputs[i].frame));
}

void graph_plan::check_replicas() const {
  for (std::uint32_t s = 0; s < stages.size(); ++s) {
    bool any_queue = false;
    for (std::uint32_t i = 0; i < stages[s].inputs.size(); ++i) {
      auto const& in = stages[s].inputs[i];
      if (in.from == no_stage) continue;
      any_queue = any_queue || in.how != delivery::latest;
      if (stages[in.from].how.replicas == 1) continue;
      if (stages[s].how.replicas > 1)
        throw graph_error(fmt::format(
            "'{}' and its reader '{}' both have replicas: put a stage with one instance between them, "
            "which restores the order",
            stages[in.from].name, stages[s].name));
      if (in.how != delivery::lossless)
        throw graph_error(fmt::format(
            "the input {} reads from the replicas of '{}', whose order is lost if frames are: connect "
            "it with delivery::lossless",
            input_name(s, i), stages[in.from].name));
    }
    if (stages[s].how.replicas > 1 && !any_queue)
      throw graph_error(fmt::format(
          "'{}' has replicas, but no input with the delivery every or lossless that they could share",
          stages[s].name));
  }
}

/// Always the first stage, as they were added, whose writers are all in the order.
void graph_plan::sort() {
  order_.clear();
  std::vector<std::uint32_t> missing(stages.size(), 0);  // inputs whose writers are not in the order yet
  std::vector<std::vector<std::uint32_t>> readers(stages.size());
  std::set<std::uint32_t> ready;
  for (std::uint32_t s = 0; s < stages.size(); ++s) {
    for (auto const& in : stages[s].inputs)
      if (in.from != no_stage) ++missing[s], readers[in.from].push_back(s);
    if (missing[s] == 0) ready.insert(s);
  }
  while (!ready.empty()) {
    auto const s = ready.extract(ready.begin()).value();
    order_.push_back(s);
    for (auto const r : readers[s])
      if (--missing[r] == 0) ready.insert(r);
  }
  if (order_.size() == stages.size()) return;
  std::vector<std::string> circle;
  for (std::uint32_t s = 0; s < stages.size(); ++s)
    if (missing[s] != 0) circle.push_back(fmt::format("'{}'", stages[s].name));
  throw graph_error(fmt::format("these stages depend on each other in a circle, or on one that does: {}",
                                fmt::join(circle, ", ")));
}

void graph_plan::check_taken(std::uint32_t s, std::array<any_about, most_ports> const& with) const {
  auto const& inputs = stages[s].kind->inputs;
  for (std::uint32_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].takes(with[i]))
      throw graph_error(fmt::format("the stage '{}' does not take the frames that come to {}{}{}",
                                    stages[s].name, input_name(s, i), inputs[i].text != nullptr ? ": " : "",
                                    inputs[i].text != nullptr ? inputs[i].text(with[i]) : ""));
}

void graph_plan::ask_for_specs(bool is_whole) {
  specs_.assign(stages.size(), {});
  auto const sources = static_cast<std::uint32_t>(std::ranges::count_if(stages, [](planned_stage const& s) {
    return std::ranges::all_of(s.inputs, [](auto const& in) { return in.from == no_stage; });
  }));
  std::vector<std::vector<std::pair<std::uint32_t, bool (*)(any_about const&)>>> readers(stages.size());
  for (auto const& r : stages)
    for (std::uint32_t i = 0; i < r.inputs.size(); ++i)
      if (auto const& in = r.inputs[i]; in.from != no_stage)
        readers[in.from].emplace_back(in.output, r.kind->inputs[i].takes);
  for (auto const s : order_) {
    auto const& stage = stages[s];
    auto const &inputs = stage.kind->inputs, &outputs = stage.kind->outputs;
    stage_spec told;
    told.rate = rate;
    told.sources = sources;
    auto& with = told.inputs;
    bool all_known = true;
    for (std::uint32_t i = 0; i < inputs.size(); ++i) {
      auto const& in = stage.inputs[i];
      if (in.from != no_stage) with[i] = specs_[in.from].outputs[in.output];
      all_known = all_known && (with[i].is_known || inputs[i].is_optional);
    }
    if (!is_whole && !all_known) continue;  // it may still be connected
    check_taken(s, with);
    for (auto const& [output, takes] : readers[s]) told.readers[output].push_back(takes);
    specs_[s] = stage.spec_for(told);
    for (std::uint32_t o = 0; o < outputs.size(); ++o)
      if (!specs_[s].outputs[o].is_known)
        throw graph_error(fmt::format(
            "the stage '{}' does not say what its output '{}' has: its type needs a function `spec`",
            stage.name, outputs[o].name));
  }
}

void graph_plan::replace(std::uint32_t stage, planned_stage next, stage_spec spec) {
  stages[stage] = std::move(next);
  specs_[stage] = std::move(spec);
}

bool graph_plan::may_use(std::uint32_t device) const {
  return (use_ == backend::automatic || devices_[device].name.starts_with(name_of(use_)) ||
          devices_[device].player == name_of(use_)) &&
         (allowed_.empty() || std::ranges::find(allowed_, device) != allowed_.end());
}

std::vector<stage_place> graph_plan::possible_places(std::uint32_t s) {
  auto const& stage = stages[s];
  if (auto const d = stage.how.device; d && *d >= devices_.size())
    throw graph_error(fmt::format("the stage '{}' is to work on device {}, but the runtime has {}",
                                  stage.name, *d, devices_.size()));
  std::vector<stage_place> possible;
  // Devices with their own memory come first: without known costs, frames stay there.
  for (bool const with_memory : {true, false})
    for (std::uint32_t d = 0; d < devices_.size(); ++d) {
      if (devices_[d].has_memory != with_memory) continue;
      if (stage.how.device && *stage.how.device != d) continue;
      if (stage.kind->where == works::on_host && with_memory) continue;
      if (stage.kind->where == works::on_accelerator && !with_memory) continue;
      // A stage that works on the host alone does so whatever the backend is.
      if (!may_use(d) && !stage.how.device && stage.kind->where != works::on_host) continue;
      possible.push_back({d, 0});
    }
  if (possible.size() > 1) find_costs(s, possible);
  if (!possible.empty()) return possible;
  throw graph_error(fmt::format("the stage '{}' can work on none of the runtime's devices: {}", stage.name,
                                stage.kind->where == works::on_host ? "it needs a cpu"
                                : stage.kind->where == works::on_accelerator
                                    ? "it needs one with its own memory"
                                    : fmt::format("the backend is {}", name_of(use_))));
}

/// By the stage's own estimate, or measured, in all places or in none.
void graph_plan::find_costs(std::uint32_t s, std::vector<stage_place>& places) {
  auto const& stage = stages[s];
  auto const& spec = specs_[s];
  if (!has_known_outputs(s)) return;
  if (!spec.has_cost && (!measure || !stage.is_measurable(spec))) return;
  std::vector<std::string> texts;
  std::vector<std::uint64_t> costs;
  for (auto const& p : places) {
    auto const own = devices_[p.where].has_memory ? spec.accelerator_ns : spec.host_ns;
    auto const ns = spec.has_cost ? own : measure(stage, spec, p.where, false);
    if (!ns) return;
    costs.push_back(*ns);
    texts.push_back(fmt::format("{:.3f} ms on {}", static_cast<double>(*ns) / 1e6, devices_[p.where].name));
  }
  for (std::size_t i = 0; i < places.size(); ++i) places[i].ns = costs[i];
  costs_[s] = fmt::format("{}: {}", spec.has_cost ? "expected" : "measured", fmt::join(texts, ", "));
}

bool graph_plan::has_known_outputs(std::uint32_t s) const {
  for (std::uint32_t o = 0; o < stages[s].kind->outputs.size(); ++o)
    if (!specs_[s].outputs[o].is_known) return false;
  return true;
}

/// Without times, they play: the GPU was asked for.
graph_plan::planned_kernels graph_plan::choose_kernels(std::uint32_t s) const {
  auto const& stage = stages[s];
  auto const& device = devices_[places_[s]];
  bool const is_forced = stage.how.kernels == kernel_choice::player;
  if (is_forced && device.player.empty())
    throw graph_error(fmt::format(
        "the stage '{}' is to play its kernels on a GPU, but none does so beside the runtime's device {}: "
        "choose the device opencl",
        stage.name, device.name));
  if (is_forced && !stage.kind->has_kernels)
    throw graph_error(
        fmt::format("the stage '{}' is to play its kernels on {}, but stages of the type {} "
                    "have none",
                    stage.name, device.player, stage.kind->name));
  if (device.player.empty()) return {};
  if (!stage.kind->has_kernels) return {false, "no kernels"};
  if (is_forced) return {true, fmt::format("kernels on {}, as its options say", device.player)};
  if (stage.how.kernels == kernel_choice::host) return {false, "kernels on the host, as its options say"};
  if (use_ == backend::cpu) return {false, "kernels on the host, as the backend says"};
  if (use_ != backend::automatic)
    return {true, fmt::format("kernels on {}, as the backend says", device.player)};
  std::optional<std::uint64_t> here, there;
  if (measure && stage.has_measurable_kernels() && has_known_outputs(s)) {
    here = measure(stage, specs_[s], places_[s], false);
    there = measure(stage, specs_[s], places_[s], true);
  }
  if (!here || !there) return {true, fmt::format("kernels on {}, not measured", device.player)};
  auto const ms = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e6; };
  if (*there <= *here)
    return {true, fmt::format("kernels on {}: {:.3f} ms, on the host {:.3f} ms", device.player, ms(*there),
                              ms(*here))};
  return {false, fmt::format("kernels on the host: {:.3f} ms, on {} {:.3f} ms", ms(*here), device.player,
                             ms(*there))};
}

/// Between two devices with memory, by way of the host.
std::uint64_t graph_plan::copy_ns(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) const {
  if (from == to) return 0;
  auto const &a = devices_[from], &b = devices_[to];
  return (a.has_memory ? a.down.of(bytes) : 0) + (b.has_memory ? b.up.of(bytes) : 0);
}

void graph_plan::choose_places() {
  auto const count = static_cast<std::uint32_t>(devices_.size());
  std::vector<negotiating_stage> all(stages.size());
  costs_.assign(stages.size(), {});
  for (std::uint32_t s = 0; s < stages.size(); ++s) all[s].places = possible_places(s);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> readers;  // of each output
  for (std::uint32_t r = 0; r < stages.size(); ++r)
    for (auto const& in : stages[r].inputs) {
      if (in.from == no_stage) continue;
      auto& of_output = readers[{in.from, in.output}];
      if (of_output.empty() || of_output.back() != r) of_output.push_back(r);
    }
  std::vector<negotiating_output> outputs;
  for (std::uint32_t s = 0; s < stages.size(); ++s)
    for (std::uint32_t o = 0; o < stages[s].kind->outputs.size(); ++o) {
      auto const read = readers.find({s, o});
      if (read == readers.end()) continue;
      negotiating_output out{.from = s,
                             .to = std::move(read->second),
                             .ns = std::vector<std::uint64_t>(std::size_t{count} * count)};
      auto const bytes = specs_[s].outputs[o].is_known ? frame_bytes(s, o) : 1u << 20;
      for (std::uint32_t a = 0; a < count; ++a)
        for (std::uint32_t b = 0; b < count; ++b) out.ns[a * count + b] = copy_ns(a, b, bytes);
      outputs.push_back(std::move(out));
    }
  places_ = negotiate(all, outputs, count).places;
}

void graph_plan::find_transfers() {
  transfers_.clear();
  transfer_at_.clear();
  for (std::uint32_t s = 0; s < stages.size(); ++s)
    for (auto const& in : stages[s].inputs) {
      if (in.from == no_stage || places_[in.from] == places_[s]) continue;
      auto const [at, is_new] = transfer_at_.try_emplace({in.from, in.output, places_[s]}, transfers_.size());
      if (!is_new) {
        auto& t = transfers_[at->second];
        t.how = std::max(t.how, in.how);
        t.capacity = std::max(t.capacity, in.capacity);
        t.by_hand = t.by_hand && stages[s].kind->is_transfer;
        continue;
      }
      auto const bytes = frame_bytes(in.from, in.output);
      transfers_.push_back({in.from, in.output, places_[s], in.how, std::max(in.capacity, 1u), bytes,
                            copy_ns(places_[in.from], places_[s], bytes), stages[s].kind->is_transfer});
    }
}

planned_transfer const* graph_plan::transfer_to(std::uint32_t stage, std::uint32_t input) const noexcept {
  auto const& in = stages[stage].inputs[input];
  auto const at = transfer_at_.find({in.from, in.output, places_[stage]});
  return at == transfer_at_.end() ? nullptr : &transfers_[at->second];
}

std::uint64_t graph_plan::frame_bytes(std::uint32_t stage, std::uint32_t output) const {
  return stages[stage].kind->outputs[output].bytes(specs_[stage].outputs[output]);
}

std::string graph_plan::frame_text(std::uint32_t stage, std::uint32_t output) const {
  auto const text = stages[stage].kind->outputs[output].text;
  return text != nullptr ? text(specs_[stage].outputs[output]) : std::string();
}

std::string graph_plan::why(std::uint32_t s) const {
  auto const& kernels = kernels_[s].why;
  auto const place = why_there(s);
  return kernels.empty() ? place : fmt::format("{}; {}", place, kernels);
}

std::string graph_plan::why_there(std::uint32_t s) const {
  auto const& stage = stages[s];
  if (stage.how.device) return "as its options say";
  if (stage.kind->where == works::on_host) return "it uses the host";
  if (stage.kind->where == works::on_accelerator) return "it needs an accelerator";
  if (use_ != backend::automatic) return fmt::format("the backend is {}", name_of(use_));
  if (devices_.size() == 1) return "the only device";
  auto const least = "the least time in all, with copies";
  return costs_[s].empty() ? least : fmt::format("{}; {}", least, costs_[s]);
}

}  // namespace rondo::streams
