// The pools of a graph's outputs: how many blocks each has, and where they lie.
#include <algorithm>
#include <ranges>

#include "runtime/streams/built/graph_build.hpp"

namespace rondo::streams {

namespace {

/// How many blocks an output needs at most, so that its stage does not wait for one, with `in_flight` ticks under way.
std::uint32_t blocks_for(std::uint32_t held, std::uint32_t by_latest, std::uint32_t in_flight) {
  return std::min(1 + held, in_flight + 2 + 2 * by_latest);
}

}  // namespace

frame_pool* built_graph::lay_out_pool(graph_memory& memory, stage_instance& s, std::uint32_t output) {
  auto const bytes = s.transfer != nullptr ? s.transfer->bytes : plan_.frame_bytes(s.stage, output);
  auto const& behind = holders_.at({&s, output});
  auto const count = blocks_for(behind.held, behind.by_latest, std::max(options_.window, 4u)) + behind.kept;
  auto const* const kind = s.transfer == nullptr ? plan_.stages[s.stage].kind : nullptr;
  auto* const from = kind != nullptr && kind->lender_of != nullptr ? kind->lender_of(s.host.get()) : nullptr;
  auto* const blocks = memory.take<frame_block>(count);
  for (std::uint32_t b = 0; b < count; ++b) {
    auto& block = *new (blocks + b) frame_block{};
    block.data = from == nullptr ? memory.block(bytes) : nullptr;
    block.next = b + 1 < count ? b + 2 : 0;
  }
  auto* const pool = new (memory.take<frame_pool>()) frame_pool(memory.at_device(blocks), count, bytes);
  pool->from = from;
  if (from == nullptr) s.frame_bytes += count * bytes;
  pools_.emplace_back(&s, pool);
  return pool;
}

/// Those of readers first, because a stage that changes a frame in place passes it on. Readers come after their writers
/// among the instances, except that inlets are the last.
void built_graph::find_holders() {
  auto const find_of = [&](stage_instance const& s) {
    for (std::uint32_t o = 0; o < output_count(s); ++o) holders_[{&s, o}] = find_holders(s, o);
  };
  for (auto const& s : instances_ | std::views::reverse)
    if (s.transfer == nullptr) find_of(s);
  for (auto const& s : instances_)
    if (s.transfer != nullptr) find_of(s);
}

built_graph::holders built_graph::find_holders(stage_instance const& s, std::uint32_t output) const {
  holders all;
  auto const add = [](std::uint32_t& to,
                      std::uint64_t more) {  // there are as many as ways, which may be many
    to = static_cast<std::uint32_t>(std::min<std::uint64_t>(to + more, 1u << 24));
  };
  for (auto const* const e : s.writes) {
    if (e->output != output) continue;
    bool const latest = e->how == delivery::latest;
    add(all.by_latest, latest);
    add(all.held, latest ? 3 : e->capacity + 1);
    if (e->reader->transfer != nullptr) continue;
    auto const& stage = plan_.stages[e->reader->stage];
    auto const& kind = *stage.kind;
    add(all.kept, plan_.specs()[e->reader->stage].kept_frames);
    for (std::uint32_t o = 0; o < kind.outputs.size(); ++o) {
      if (kind.outputs[o].edit_of != kind.inputs[e->input].name) continue;
      auto const& behind = holders_.at({e->reader, o});
      add(all.by_latest, behind.by_latest);
      add(all.held, behind.held);
      add(all.kept, behind.kept);
    }
  }
  return all;
}

}  // namespace rondo::streams
