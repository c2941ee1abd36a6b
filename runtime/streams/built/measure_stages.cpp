#include "runtime/streams/built/measure_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

#include "runtime/lifecycle.hpp"
#include "runtime/streams/built/end_actors.hpp"
#include "runtime/streams/built/graph_memory.hpp"
#include "runtime/streams/built/stage_link.hpp"

namespace rondo::streams {

namespace {

using namespace std::chrono_literals;

constexpr int most_ticks = 5;                // that are counted, after a first one
constexpr auto long_enough = 50ms;           // for all of them
constexpr auto longest = 1s;                 // for one
constexpr auto longest_first = 60s;          // on a player, whose driver may compile the kernels then
constexpr std::uint32_t blocks_of_each = 2;  // an output's

/// A stage without a graph. An inlet stands before each input, and the host gives it frames; its outputs have no
/// readers.
class lone_stage {
 public:
  lone_stage(runtime& rt, planned_stage const& stage, stage_spec const& spec, std::uint32_t device,
             bool by_player)
      : rt_(rt), stage_(stage), spec_(spec), device_(device), by_player_(by_player) {
    log_line of;
    of.actor_name = fmt::format("{}, measured", stage_.name);
    of.behaviour = stage_.kind->name;
    of.device = device_;
    link_ = std::make_unique<stage_link>(rt_, std::move(of), false, stage_beginning{}, by_player_);
    auto& pool = rt_.buffers(device_);
    memory_ = std::make_unique<graph_memory>(pool);
    for (std::uint32_t i = 0; i < stage_.inputs.size(); ++i)
      if (stage_.inputs[i].from != no_stage) feeds_.push_back({.input = i});
    memory_->lay_out([this](graph_memory& m) { lay_out(m); });
    memory_->write();
  }
  lone_stage(lone_stage const&) = delete;
  lone_stage& operator=(lone_stage const&) = delete;
  ~lone_stage() {
    ending_actors ends{rt_};
    ends.add(actor_);
    for (auto const& f : feeds_) ends.add(f.actor);
    bool const all = ends.wait();
    link_->wait_for_kernels();
    if (!all) static_cast<void>(memory_.release()), static_cast<void>(link_.release());  // it uses them
  }

  void launch() {
    actor_options const how{.device = device_, .active = false};
    actor_ = stage_.kind->launch(rt_, {}, how, memory_->at_device(of_stage_));
    link_->begin(actor_);
    for (auto& f : feeds_) {
      f.actor = rt_.launch<inlet>({}, how, {memory_->at_device(f.memory)});
      f.way->writer = f.pool->owner = f.actor.id();
      f.way->reader = actor_.id();
      memory_->write(&f.way->reader, &f.way->writer + 1);
      memory_->write(&f.pool->owner, &f.pool->owner + 1);
    }
    for (auto* const pool : pools_) {
      pool->owner = actor_.id();
      memory_->write(&pool->owner, &pool->owner + 1);
    }
    static_cast<void>(activate(actor_, block));
    for (auto const& f : feeds_) static_cast<void>(activate(f.actor, block));
  }

  /// The time in `process` for one more tick. nullopt: it has not processed it.
  std::optional<std::uint64_t> tick() {
    std::chrono::nanoseconds const patience = by_player_ && number_ == 0 ? longest_first : longest;
    ask_options const patiently{.timeout = patience, .wait_for_room = true};
    for (auto const& f : feeds_) {
      auto const& about = spec_.inputs[f.input];
      auto const block_there = f.actor.ask(next_block{}, patiently, block);
      if (!block_there) return std::nullopt;
      frame_arrived m{{.data = block_there->data,
                       .bytes = static_cast<std::uint32_t>(stage_.kind->inputs[f.input].bytes(about)),
                       .about = {},
                       .number = number_,
                       .time_ns = number_ * 1'000'000,
                       .origin = {}}};
      std::ranges::copy(about.bytes, m.frame.about);
      if (f.actor.tell(m, {.wait_for_room = true}, block)) return std::nullopt;
    }
    if (feeds_.empty() && actor_.tell(tick_due{number_, number_ * 1'000'000}, {.wait_for_room = true}, block))
      return std::nullopt;
    ++number_;
    for (auto const until = std::chrono::steady_clock::now() + patience;
         std::chrono::steady_clock::now() < until;) {
      auto const counts = actor_.ask(read_counts{}, patiently, block);
      if (!counts || counts->failed != 0) return std::nullopt;
      if (by_player_ && link_->outcome() == host_link::played::failed) return std::nullopt;
      if (counts->processed == number_) return counts->busy_ns - std::exchange(busy_ns_, counts->busy_ns);
      if (by_player_) std::this_thread::sleep_for(100us);  // a GPU that is the processor needs it
    }
    return std::nullopt;
  }

 private:
  /// What an input gets its frames by.
  struct feed {
    std::uint32_t input;
    stage_memory* memory = nullptr;  // of the inlet; this and the rest: on the host
    edge* way = nullptr;
    frame_pool* pool = nullptr;
    actor_ref<inlet> actor{};
  };

  template <class T>
  static T* take(graph_memory& m, std::size_t count = 1) {
    auto* const all = m.take<T>(count);
    std::uninitialized_value_construct_n(all, count);
    return all;
  }
  static frame_pool* lay_out_pool(graph_memory& m, std::uint64_t bytes, bool blank) {
    auto* const blocks = take<frame_block>(m, blocks_of_each);
    for (std::uint32_t b = 0; b < blocks_of_each; ++b) {
      blocks[b].data = m.block(std::max<std::uint64_t>(bytes, 1), blank);
      blocks[b].next = b + 1 < blocks_of_each ? b + 2 : 0;
    }
    return new (m.take<frame_pool>()) frame_pool(m.at_device(blocks), blocks_of_each, bytes);
  }

  void lay_out(graph_memory& m) {
    auto const& kind = *stage_.kind;
    pools_.clear();
    of_stage_ = take<stage_memory>(m);
    auto* const inputs = take<input_state>(m, kind.inputs.size());
    auto* const outputs = take<output_state>(m, kind.outputs.size());
    auto* const options = m.take<std::max_align_t>(stage_.options.size());
    std::ranges::copy(stage_.options, options);
    of_stage_->inputs = m.at_device(inputs);
    of_stage_->outputs = m.at_device(outputs);
    of_stage_->input_count = static_cast<std::uint32_t>(kind.inputs.size());
    of_stage_->output_count = static_cast<std::uint32_t>(kind.outputs.size());
    of_stage_->options = m.at_device(options);
    of_stage_->device = device_;
    of_stage_->link = rt_.buffers(device_).home() != nullptr ? nullptr : link_.get();
    if (auto const bytes = spec_.scratch_bytes; bytes != 0) of_stage_->scratch = m.block(bytes, true);
    for (std::uint32_t o = 0; o < kind.outputs.size(); ++o) {
      pools_.push_back(lay_out_pool(m, kind.outputs[o].bytes(spec_.outputs[o]), false));
      outputs[o].pool = m.at_device(pools_.back());
      std::ranges::copy(spec_.outputs[o].bytes, outputs[o].announced);
    }
    for (auto& f : feeds_) lay_out_feed(m, f, inputs[f.input]);
  }
  void lay_out_feed(graph_memory& m, feed& f, input_state& input) {
    auto* const places = take<frame>(m, blocks_of_each);
    f.way = new (m.take<edge>()) edge(delivery::lossless, m.at_device(places), blocks_of_each);
    auto** const ways = take<edge*>(m);
    *ways = m.at_device(f.way);
    input.edges = m.at_device(ways);
    input.count = 1;
    f.pool = lay_out_pool(m, stage_.kind->inputs[f.input].bytes(spec_.inputs[f.input]), true);
    auto* const readers = take<reader_edges>(m);
    *readers = {m.at_device(ways), 1, 0};
    auto* const output = take<output_state>(m);
    output->pool = m.at_device(f.pool);
    output->readers = m.at_device(readers);
    output->count = 1;
    f.memory = take<stage_memory>(m);
    f.memory->outputs = m.at_device(output);
    f.memory->output_count = 1;
    f.memory->device = device_;
  }

  runtime& rt_;
  planned_stage const& stage_;
  stage_spec const& spec_;
  std::uint32_t device_;
  bool by_player_;
  std::unique_ptr<stage_link> link_;
  std::unique_ptr<graph_memory> memory_;
  std::vector<feed> feeds_;
  std::vector<frame_pool*> pools_;
  stage_memory* of_stage_ = nullptr;
  stage_actor actor_{};
  std::uint64_t number_ = 0, busy_ns_ = 0;
};

std::optional<std::uint64_t> measure(runtime& rt, planned_stage const& stage, stage_spec const& spec,
                                     std::uint32_t device, bool by_player) try {
  lone_stage alone{rt, stage, spec, device, by_player};
  alone.launch();
  if (!alone.tick()) return std::nullopt;  // the first one takes longer than others
  std::vector<std::uint64_t> times;
  auto const until = std::chrono::steady_clock::now() + long_enough;
  do {
    auto const ns = alone.tick();
    if (!ns) return std::nullopt;
    times.push_back(*ns);
  } while (times.size() < most_ticks && std::chrono::steady_clock::now() < until);
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
} catch (std::exception const&) {  // no memory or cells for it; the graph itself says so if it needs them
  return std::nullopt;
}

/// All that a time depends on.
std::string key_of(runtime& rt, planned_stage const& stage, stage_spec const& spec, std::uint32_t device,
                   bool by_player) {
  auto const info = rt.info(device);
  std::string key = info.name + '\n' + info.description + '\n' + std::string(stage.kind->name) + '\n';
  key += by_player ? "player\n" : "device\n";
  key.append(static_cast<char const*>(stage.option_bytes()), stage.kind->option_bytes);
  for (std::uint32_t i = 0; i < stage.inputs.size(); ++i) {
    auto const& in = spec.inputs[i];
    key += stage.inputs[i].from != no_stage ? '1' : '0';
    key.append(reinterpret_cast<char const*>(in.bytes), sizeof in.bytes);
  }
  return key;
}

}  // namespace

std::optional<std::uint64_t> measured_ns(runtime& rt, planned_stage const& stage, stage_spec const& spec,
                                         std::uint32_t device, bool by_player) {
  static std::mutex mutex;
  static std::map<std::string, std::uint64_t> known;
  std::lock_guard const lock(mutex);
  auto const key = key_of(rt, stage, spec, device, by_player);
  if (auto const at = known.find(key); at != known.end()) return at->second;
  auto const ns = measure(rt, stage, spec, device, by_player);
  if (ns) known.emplace(key, *ns);
  return ns;
}

}  // namespace rondo::streams
