// A checkpoint of a graph: what its stages keep beyond a restart, between two ticks, when no frame is under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace rondo::streams {

/// A stage, or one of its replicas.
struct saved_stage {
  std::string name;
  std::string type;  // its qualified name
  std::uint32_t replica = 0;
  std::uint64_t processed = 0;  // ticks, over all runs
  std::uint64_t own_ticks = 0;  // of a source with ticks of its own
  std::vector<std::byte> scratch;
};

struct saved_graph {
  std::filesystem::path file{};  // from which it was read
  std::string name;
  std::uint64_t next_tick = 0;  // the clock's next one
  std::vector<saved_stage> stages;
};

/// Replaces the file as a whole. Throws std::runtime_error with the file and the reason, also for 2 GiB of scratch
/// memory or more.
void write_saved_graph(std::filesystem::path const& file, saved_graph const& g);

/// Throws std::runtime_error with the file and the reason: it cannot be read, or is torn, damaged, or of another kind,
/// version or byte order.
saved_graph read_saved_graph(std::filesystem::path const& file);
/// The body of such a file, aligned to 8 bytes. Throws std::runtime_error with the file if it is damaged.
saved_graph decode_saved_graph(std::span<std::byte const> body, std::filesystem::path const& file);

}  // namespace rondo::streams
