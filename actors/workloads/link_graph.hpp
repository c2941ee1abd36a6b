// Graphs for PageRank, on the host: read from files, or generated; and as the table that a page_ranker takes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/workloads/input_text.hpp"
#include "actors/workloads/page_ranker.hpp"

namespace rondo::workloads {

/// From vertex `from` to vertex `to`. A link that is there twice counts twice.
struct graph_link {
  std::uint32_t from, to;
};

struct link_graph {
  static constexpr std::uint64_t most_vertices = 1u << 31, most_links = 0xffff'fff0;

  std::uint32_t vertices = 0;
  std::vector<graph_link> links{};
  /// What the file calls each vertex; empty: its number, from `first_name` on.
  std::vector<std::uint64_t> names{};
  std::uint64_t first_name = 0;

  std::uint64_t name_of(std::uint32_t vertex) const {
    return names.empty() ? first_name + vertex : names[vertex];
  }
};

/// Reads a list of edges (two numbers a line: from, to; lines that begin with # or % are comments; what follows the
/// numbers is left out), or a graph in Matrix Market's format "coordinate" (its entries are the links, whatever their
/// values). `origin` stands for the file in errors. Throws input_error.
link_graph parse_graph(std::string_view text, std::string const& origin, progress_report const& report = {});

/// A random graph as RMAT makes it, with a few vertices that have many links, and many that have few: 2^scale vertices,
/// `factor` times as many links. The same seed makes the same graph everywhere.
struct rmat {
  std::uint32_t scale = 16, factor = 16, seed = 1;
  std::uint64_t links() const noexcept { return std::uint64_t{factor} << scale; }
};
/// From text such as "scale=20,factor=16,seed=1", each part of which may be left out. Throws input_error.
rmat parse_rmat(std::string_view text);
link_graph generate(rmat const& shape);

/// How many bytes the table of a graph has, in so many parts.
std::uint64_t table_bytes(link_graph const& graph, std::uint32_t parts);
/// Writes it. Precondition: `to` has as many bytes as that, and parts is from 1 to the number of vertices.
void write_table(link_graph const& graph, std::uint32_t parts, std::span<std::byte> to);

}  // namespace rondo::workloads
