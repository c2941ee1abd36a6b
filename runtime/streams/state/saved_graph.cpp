#include "runtime/streams/state/saved_graph.hpp"

#include <fmt/format.h>

#include "generated/saved_graph_generated.h"
#include "runtime/state/checked_file.hpp"

namespace rondo::streams {

namespace {

constexpr file_format format{"RONDOSTG", 1, "a checkpoint of a graph"};
constexpr std::uint64_t body_limit = (std::uint64_t{1} << 31) - 1;  // FlatBuffers' own limit

/// An upper bound, because FlatBuffers aborts the program if a buffer exceeds its limit.
std::uint64_t estimate_bytes(saved_graph const& g) {
  std::uint64_t bytes = 4096 + g.name.size();
  for (auto const& s : g.stages) bytes += 256 + s.name.size() + s.type.size() + s.scratch.size();
  return bytes;
}

}  // namespace

void write_saved_graph(std::filesystem::path const& file, saved_graph const& g) {
  if (auto const bytes = estimate_bytes(g); bytes > body_limit)
    throw std::runtime_error(fmt::format(
        "{}: the scratch memory of the graph's stages is about {} bytes, more than a checkpoint can hold "
        "(2 GiB)",
        file.string(), bytes));
  flatbuffers::FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<schemas::saved_stage>> stages;
  for (auto const& s : g.stages) {
    auto const scratch =
        b.CreateVector(reinterpret_cast<std::uint8_t const*>(s.scratch.data()), s.scratch.size());
    auto const name = b.CreateString(s.name), type = b.CreateString(s.type);
    stages.push_back(schemas::Createsaved_stage(b, name, type, s.replica, s.processed, s.own_ticks, scratch));
  }
  auto const all = b.CreateVector(stages);
  auto const name = b.CreateString(g.name);
  schemas::Finishsaved_graphBuffer(b, schemas::Createsaved_graph(b, name, g.next_tick, all));
  write_checked_file(file, format, {reinterpret_cast<std::byte const*>(b.GetBufferPointer()), b.GetSize()});
}

saved_graph read_saved_graph(std::filesystem::path const& file) {
  checked_file const bytes(file, format, body_limit);
  return decode_saved_graph(bytes.body(), file);
}

saved_graph decode_saved_graph(std::span<std::byte const> bytes, std::filesystem::path const& file) {
  auto const* const body = reinterpret_cast<std::uint8_t const*>(bytes.data());
  // Tables may share parts, and each use is read again; so their number is bounded by what was written.
  flatbuffers::Verifier verifier(body, bytes.size(), 16,
                                 static_cast<flatbuffers::uoffset_t>(bytes.size() / 8));
  if (!schemas::Verifysaved_graphBuffer(verifier))
    throw std::runtime_error(
        fmt::format("{}: is inconsistent: its body is not a valid FlatBuffer", file.string()));
  auto const& from = *schemas::Getsaved_graph(body);
  saved_graph g{.file = file, .name = from.name()->str(), .next_tick = from.next_tick(), .stages = {}};
  for (auto const* const s : *from.stages()) {
    auto const* const scratch = reinterpret_cast<std::byte const*>(s->scratch()->data());
    g.stages.push_back({.name = s->name()->str(),
                        .type = s->type()->str(),
                        .replica = s->replica(),
                        .processed = s->processed(),
                        .own_ticks = s->own_ticks(),
                        .scratch = {scratch, scratch + s->scratch()->size()}});
  }
  return g;
}

}  // namespace rondo::streams
