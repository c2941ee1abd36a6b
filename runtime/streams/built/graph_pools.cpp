// The pools of a graph's outputs: how many blocks each has, and where they lie.
#include <algorithm>

#include "runtime/streams/built/graph_build.hpp"

namespace rondo::streams {

namespace {

/// How many blocks an output needs at most, so that its stage does not wait for one, with `in_flight` ticks under way.
std::uint32_t blocks_for(std::uint32_t held, std::uint32_t by_latest, std::uint32_t in_flight) {
  return std::min(1 + held, in_flight + 2 + 2 * by_latest);
}

}  // namespace

frame_pool* built_graph::lay_out_pool(graph_memory& memory, stage_instance const& s, std::uint32_t output) {
  auto const bytes = s.transfer != nullptr ? s.transfer->bytes : plan_.frame_bytes(s.stage, output);
  holders behind;
  add_holders(s, output, behind);
  auto const count = blocks_for(behind.held, behind.by_latest, std::max(options_.window, 4u)) + behind.kept;
  auto const* const kind = s.transfer == nullptr ? plan_.stages[s.stage].kind : nullptr;
  auto* const from =
      kind != nullptr && kind->lender_of != nullptr ? kind->lender_of(s.host_side.get()) : nullptr;
  auto* const blocks = memory.take<frame_block>(count);
  for (std::uint32_t b = 0; b < count; ++b) {
    auto& block = *new (blocks + b) frame_block{};
    block.data = from == nullptr ? memory.block(bytes) : nullptr;
    block.next = b + 1 < count ? b + 2 : 0;
  }
  auto* const pool = new (memory.take<frame_pool>()) frame_pool(memory.at_device(blocks), count, bytes);
  pool->from = from;
  pools_.emplace_back(&s, pool);
  return pool;
}

void built_graph::add_holders(stage_instance const& s, std::uint32_t output, holders& all) const {
  for (auto const& e : edges_) {
    if (e.writer != &s || e.output != output) continue;
    bool const latest = e.how == delivery::latest;
    all.by_latest += latest;
    all.held += latest ? 3 : e.capacity + 1;
    if (e.reader->transfer != nullptr) continue;
    auto const& stage = plan_.stages[e.reader->stage];
    auto const& kind = *stage.kind;
    if (kind.keeps != nullptr) all.kept += kind.keeps(stage.option_bytes());
    for (std::uint32_t o = 0; o < kind.outputs.size(); ++o)
      if (kind.outputs[o].edit_of == kind.inputs[e.input].name) add_holders(*e.reader, o, all);
  }
}

}  // namespace rondo::streams
